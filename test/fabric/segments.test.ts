import { existsSync, readFileSync, readlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { segmentName, sweepSegments } from '../../src/fabric/segments.js';

const namespace = /\d+/.exec(readlinkSync('/proc/self/ns/pid'))![0];
const started = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]!.split(' ')[19]!;
const made: string[] = [];

function segment(name: string): string {
  const path = `/dev/shm/${name}`;
  writeFileSync(path, 'weft test');
  made.push(path);
  return path;
}

afterEach(() => {
  for (const path of made.splice(0)) if (existsSync(path)) unlinkSync(path);
});

describe('segment names', () => {
  test('differ, and name this process so that it can be proved alive', () => {
    const [first, second] = [segmentName(), segmentName()];
    expect(first).not.toBe(second);
    expect(first).toMatch(`weft-${namespace}-${process.pid}-${started}-`);
  });
});

describe('sweeping', () => {
  const unborn = 4_194_304; // above the kernel's highest process number

  test('removes what a dead process left, with any suffix', () => {
    const names = [`weft-${namespace}-${unborn}-1-0`, `weft-${namespace}-${unborn}-1-1:0:0`];
    const paths = names.map(segment);
    expect(sweepSegments()).toEqual(expect.arrayContaining(names));
    expect(paths.some(existsSync)).toBe(false);
  });

  test('removes what an earlier owner of a reused process number left', () => {
    const path = segment(`weft-${namespace}-${process.pid}-${Number(started) - 1}-999`);
    sweepSegments();
    expect(existsSync(path)).toBe(false);
  });

  test.each([
    ['of this process', `weft-${namespace}-${process.pid}-${started}-999:0`],
    ['of another namespace', `weft-1-${unborn}-1-0`],
    ['of somebody else', `other-${namespace}-${unborn}-1-0`],
    ['with an odd name', `weft-${namespace}-${unborn}-1-0-more`],
  ])('leaves a segment %s', (_, name) => {
    const path = segment(name);
    sweepSegments();
    expect(existsSync(path)).toBe(true);
  });
});
