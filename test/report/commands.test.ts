import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { skippedRow } from '../../src/results/rows.js';
import { Desk } from '../benchmarks/weft.js';
import * as made from './fixtures.js';

const desk = new Desk();
afterAll(() => desk[Symbol.dispose]());

const path = (name: string) => join(desk.folder, name);
const put = (name: string, run: object) => writeFileSync(path(name), JSON.stringify(run));

// A small disk of our own needs a mount namespace.
const mayMount = spawnSync('unshare', ['-rm', 'true']).status === 0;
if (!mayMount) console.warn('skipped: full disks, since this user may not make namespaces');

/** The reference's columns many times over: their pictures need more than the small disk has. */
const manyColumns = () =>
  Array.from({ length: 40 }, (_, i) =>
    made.referenceRun('write').rows.map((row) => ({ ...row, column: `${row.column}${i}` })),
  ).flat();

beforeAll(async () => {
  // Real runs of this machine; what they measure is no matter here.
  const line = '--provider shm -b 1K -e 4K -n 20 --columns SinglePin,MultiPin';
  for (const [name, ranks] of [
    ['two', 2],
    ['three', 3],
  ] as const) {
    const ended = await desk.weft(`all2all --ranks ${ranks} ${line} --out ${name}.jsonl`);
    expect(ended.exitCode, ended.stderr).toBe(0);
  }
  put('write.json', made.referenceRun('write'));
  put('skipped.json', made.run('write', [skippedRow({ column: 'MultiDMA', reason: 'no GPU' })]));
  put('many.json', made.run('write', manyColumns()));
  put('empty.json', made.run('write', []));
});

describe('weft report', () => {
  test('writes a page beside the run and says where', async () => {
    const ended = await desk.weft('report two.jsonl');
    expect(ended).toMatchObject({ exitCode: 0, stdout: 'two.html', stderr: '' });
    const html = readFileSync(path('two.html'), 'utf8');
    expect(html).toContain('<h1>all2all reached');
    expect(html).toContain('2 ranks on 1 host');
    expect(html.length).toBeLessThan(5_000_000);
  });

  test('compares several runs', async () => {
    const ended = await desk.weft('report two.jsonl three.jsonl -o both.html');
    expect(ended).toMatchObject({ exitCode: 0, stdout: 'both.html' });
    const html = readFileSync(path('both.html'), 'utf8');
    expect(html).toContain('SinglePin · 3 ranks');
    expect(html).toContain('Bandwidth by number of ranks');
    expect(html).toMatch(/3 ranks (?:runs at|is as fast as)/);
    expect(html).toContain('all2all: 3 ranks against 2 ranks');
  });

  test('replaces its earlier page, and leaves nothing else behind', async () => {
    await desk.weft('report write.json');
    await desk.weft('report write.json');
    expect(readdirSync(desk.folder).filter((name) => name.includes('.tmp'))).toEqual([]);
  });

  test('shows a run in which nothing ran, with the reason', async () => {
    expect(await desk.weft('report skipped.json')).toMatchObject({ exitCode: 0 });
    expect(readFileSync(path('skipped.html'), 'utf8')).toContain('write measured nothing: no GPU.');
  });

  test('shows what a damaged file still has, and says that it is damaged', async () => {
    const lines = readFileSync(path('two.jsonl'), 'utf8').split('\n');
    writeFileSync(path('torn.jsonl'), `${lines.slice(0, 3).join('\n')}\n{"line":"row"}\n`);
    const ended = await desk.weft('report torn.jsonl');
    expect(ended.exitCode).toBe(0);
    expect(ended.stderr).toContain('torn.jsonl, line 4');
    const html = readFileSync(path('torn.html'), 'utf8');
    expect(html).toContain('did not finish: these are partial results');
    expect(html).toContain('torn.jsonl, line 4');
  });
});

describe('weft plot', () => {
  test('draws every chart, or those asked for', async () => {
    expect(await desk.weft('plot write.json')).toMatchObject({ exitCode: 0, stdout: 'write.svg' });
    const all = readFileSync(path('write.svg'), 'utf8');
    expect(all).toContain('Distribution of the samples');
    await desk.weft(
      'plot write.json --chart bandwidth latency --theme dark --width 700 -o some.svg',
    );
    const some = readFileSync(path('some.svg'), 'utf8');
    expect(some).toMatch(/^<svg [^>]*width="700"/);
    expect(some).toContain('Latency by size');
    expect(some).not.toContain('Distribution');
  });

  test('lists the charts there are when asked for another', async () => {
    const ended = await desk.weft('plot write.json --chart pie');
    expect(ended.exitCode).toBe(2);
    expect(ended.stderr).toContain('no chart "pie"');
    expect(ended.stderr).toContain('Available charts: bandwidth, latency,');
  });

  test('says so when there is nothing to draw', async () => {
    const ended = await desk.weft('plot skipped.json');
    expect(ended.exitCode).toBe(1);
    expect(ended.stderr).toContain('nothing to draw: no row was measured');
  });
});

describe.each(['report', 'plot'])('weft %s refuses', (command) => {
  const ending = command === 'report' ? '.html' : '.svg';
  test.each([
    ['a file that is not there', 'none.jsonl', 1, 'none.jsonl does not exist'],
    ['a folder', '.', 1, 'cannot be read'],
    ['a run without rows', 'empty.json', 1, 'has no rows, so there is nothing to show'],
    ['something that is no run', 'package.json', 1, 'not a line of a run'],
    ['the same run twice', `two.jsonl ./two.jsonl -o x${ending}`, 2, 'is given twice'],
    ['several runs without a name', 'two.jsonl three.jsonl', 2, `-o FILE${ending}`],
    ['to write over a run', 'two.jsonl -o three.jsonl', 2, `does not end in ${ending}`],
    ['a folder that is not there', `two.jsonl -o no/x${ending}`, 2, 'its folder does not exist'],
    ['a long name', `two.jsonl -o ${'x'.repeat(300)}${ending}`, 2, 'the name is too long'],
    ['a folder as its file', `two.jsonl -o dir${ending}`, 2, 'cannot write'],
    ['no run at all', '', 2, "missing required argument 'runs'"],
  ])('%s', async (_, line, code, text) => {
    writeFileSync(path('package.json'), '{}\n');
    mkdirSync(path(`dir${ending}`), { recursive: true });
    const ended = await desk.weft(`${command} ${line}`);
    expect(ended.stderr).toContain(text);
    expect(ended.exitCode).toBe(code);
  });

  test.skipIf(!mayMount)('to leave half a file on a full disk', async () => {
    const file = `full/x${ending}`;
    const weft = `${process.execPath} ${resolve(import.meta.dirname, '../../bin/weft')}`;
    const script = `mkdir -p full && mount -t tmpfs -o size=64k none full && ${weft} ${command} many.json -o ${file}; code=$?; ls full; exit $code`;
    const options = { cwd: desk.folder, reject: false } as const;
    const ended = await execa('unshare', ['-rm', 'sh', '-c', script], options);
    expect(ended.stderr).toContain('the disk is full');
    expect(ended).toMatchObject({ exitCode: 1, stdout: '' });
  });
});

test('a run that is still being written can be shown', async () => {
  const lines = readFileSync(path('two.jsonl'), 'utf8').trimEnd().split('\n');
  writeFileSync(path('going.jsonl'), `${lines.slice(0, 4).join('\n')}\n`);
  appendFileSync(path('going.jsonl'), '{"line":"row","kind":"tr');
  expect(await desk.weft('report going.jsonl')).toMatchObject({ exitCode: 0, stderr: '' });
});
