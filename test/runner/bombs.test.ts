import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readExpectations } from '../../src/analysis/verdict/expectations.js';
import { benchmarkById } from '../../src/benchmarks/index.js';
import { loadSuite } from '../../src/runner/suite.js';
import { readNetwork } from '../../src/topology/network/read.js';

const folder = mkdtempSync(join(tmpdir(), 'weft-bombs-'));
const file = join(folder, 'bomb.yaml');
afterAll(() => rmSync(folder, { recursive: true }));

/** Nine levels, each with nine of the one below: a gigabyte, if anybody wrote it out. */
const bomb = (key: string) => {
  const levels = Array.from('bcdefghi').map((name, i) => {
    const below = `*${String.fromCharCode(97 + i)}`;
    return `${name}: &${name} [${Array(9).fill(below).join(', ')}]`;
  });
  return ['a: &a [x, x, x, x, x, x, x, x, x]', ...levels, `${key}: *i`].join('\n');
};

describe('a YAML file that refers to itself again and again is refused', () => {
  test('as a suite', async () => {
    writeFileSync(file, bomb('runs'));
    const reading = loadSuite(file, async (name) => benchmarkById(name));
    await expect(reading).rejects.toMatchObject({
      code: 'BAD_USAGE',
      message: expect.stringContaining('Excessive alias count'),
    });
  });

  test('as expectations', () => {
    writeFileSync(file, bomb('expect'));
    expect(() => readExpectations(file)).toThrow('Excessive alias count');
  });

  test('as a network', () => {
    expect(() => readNetwork(bomb('leaves'), 'net')).toThrow('net, line 1: unknown key a');
  });
});

test('a network file of a few lines that names millions of hosts is refused', () => {
  const lines = Array.from({ length: 10_000 }, (_, i) => `SwitchName=s${i} Nodes=n${i}x[0-99999]`);
  expect(() => readNetwork(lines.join('\n'), 'net')).toThrow('line 2: more than 100000 hosts');
});
