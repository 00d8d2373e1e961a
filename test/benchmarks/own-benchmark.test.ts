import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Run } from '../../src/results/schema.js';
import { spawnRanks } from '../../src/world/index.js';
import { Desk } from './weft.js';

// Nothing of Weft knows these benchmarks or their options: whatever works with them derives from the page's files.
const read = (path: string) => readFileSync(resolve(import.meta.dirname, '../..', path), 'utf8');
const page = read('docs/adding-a-benchmark.md');
const blocks = (language: string) =>
  [...page.matchAll(/^```(\w*)\n(.*?)^```$/gms)]
    .filter(([, name]) => name === language)
    .map(([, , text = '']) => text);
const [neighbour = '', pause = '', program = ''] = blocks('js');
const small = '-b 4K -e 4K --budget-ms 20 --columns SinglePin';

let desk: Desk;
beforeAll(() => {
  desk = new Desk();
  writeFileSync(join(desk.folder, 'neighbour.mjs'), neighbour);
  writeFileSync(join(desk.folder, 'pause.mjs'), pause);
});
afterAll(() => desk[Symbol.dispose]());

describe('docs/adding-a-benchmark.md', () => {
  test('shows the example', () => {
    expect(neighbour).toBe(read('examples/neighbour.mjs'));
  });

  test.each(blocks('sh').join('').trim().split('\n'))('%s', async (line) => {
    const { exitCode, stdout, stderr } = await desk.weft(line.replace(/^weft /, ''));
    expect(exitCode, stderr).toBe(0);
    if (line.endsWith('--explain')) expect(stdout.trimEnd()).toBe(blocks('')[0]!.trimEnd());
  });

  test('a procedure of its own gives its row', async () => {
    const { exitCode, stdout, stderr } = await desk.weft('run ./pause.mjs --format json');
    expect(exitCode, stderr).toBe(0);
    const { rows } = JSON.parse(stdout) as Run;
    expect(rows).toMatchObject([{ column: 'Barrier', outcome: 'passed', iterations: 100 }]);
  });

  test('a program measures it', async () => {
    // A program resolves the package itself, so it lies in the checkout, beside the example.
    const folder = mkdtempSync(resolve(import.meta.dirname, '../../examples/.program-'));
    try {
      writeFileSync(join(folder, 'neighbour.mjs'), neighbour);
      const there = `process.chdir(${JSON.stringify(desk.folder)});\n`;
      writeFileSync(join(folder, 'program.mjs'), `${there}${program}`);
      const ranks = await spawnRanks({
        ranks: 2,
        command: process.execPath,
        args: [join(folder, 'program.mjs')],
      });
      expect(await ranks.done).toMatchObject({ ok: true });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('a benchmark of the user’s own', () => {
  test('runs, is verified and recorded', async () => {
    const line = `run ./neighbour.mjs --ranks 3 --distance 2 ${small} --format json`;
    const { exitCode, stdout, stderr } = await desk.weft(line);
    expect(exitCode, stderr).toBe(0);
    const run = JSON.parse(stdout) as Run;
    expect(run).toMatchObject({ benchmark: 'neighbour', outcome: 'passed', world: { ranks: 3 } });
    expect(run.settings.own).toEqual({ distance: 2 });
    expect(run.rows[0]!.checked).toEqual({ bytes: 3 * 2 * 4096, wrong: 0 });
  });

  test('has its option in help, with its default', async () => {
    const { exitCode, stdout } = await desk.weft('run ./neighbour.mjs --help');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/--distance <ranks>\s+.*\(default: 1\)/);
    expect(stdout).toMatch(/--min-bytes/);
  });

  test('is drawn by --explain', async () => {
    const { stdout } = await desk.weft(
      `run ./neighbour.mjs --ranks 3 --distance 2 ${small} --explain`,
    );
    expect(stdout).toMatch(/rank 0 .* rank 2/);
  });

  test('runs in a suite, with its option as a key', async () => {
    writeFileSync(
      join(desk.folder, 'suite.yaml'),
      'runs:\n  - benchmark: ./neighbour.mjs\n    distance: 2\n    minBytes: 4K\n    maxBytes: 4K\n    budgetMs: 20\n    columns: [SinglePin]\n',
    );
    const { exitCode, stdout, stderr } = await desk.weft('suite suite.yaml --ranks 3');
    expect(exitCode, stderr).toBe(0);
    expect(stdout).toMatch(/^neighbour · /);
  });

  test.each([
    ['a bad value', `run ./neighbour.mjs --distance none ${small}`, /--distance.*whole number/s],
    [
      'a common option without effect',
      'run ./neighbour.mjs --buffers 2',
      /--buffers has no effect on neighbour; only write supports it/,
    ],
  ])('refuses %s', async (_, line, why) => {
    const { exitCode, stderr } = await desk.weft(line);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(why);
  });

  test('refuses a key that a suite does not know', async () => {
    const text = 'runs:\n  - benchmark: ./neighbour.mjs\n    distanse: 2\n';
    writeFileSync(join(desk.folder, 'typo.yaml'), text);
    const { exitCode, stderr } = await desk.weft('suite typo.yaml');
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/neighbour.mjs has no setting distanse/);
  });

  test('may not have the id of a built-in one', async () => {
    const text = neighbour.replace("id: 'neighbour'", "id: 'write'");
    writeFileSync(join(desk.folder, 'write.mjs'), text);
    const { exitCode, stderr } = await desk.weft('run ./write.mjs');
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/write is the id of a built-in benchmark/);
  });

  test.each([
    ['is missing', './nowhere.mjs', /nowhere.mjs cannot be loaded/],
    ['exports none', './empty.mjs', /does not export a benchmark/],
  ])('a file that %s is told', async (_, file, why) => {
    writeFileSync(join(desk.folder, 'empty.mjs'), 'export default 7;\n');
    const { exitCode, stderr } = await desk.weft(`run ${file}`);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(why);
  });
});
