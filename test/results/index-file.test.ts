import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { RunFile } from '../../src/results/run-file.js';
import { indexName, RunIndex, readRunIndex } from '../../src/results/run-index.js';
import { writeManyRuns } from '../live/many-runs.js';
import { header } from './fixtures.js';
import { day, ids, putterOf, row, storedIn } from './indexed-runs.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weft-index-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});
const put = putterOf(() => folder);
const stored = () => storedIn(folder);

describe('an index file', () => {
  test.each([
    ['cut in the middle of a line', (path: string) => truncateSync(path, statSync(path).size - 40)],
    ['of another version', (path: string) => writeFileSync(path, '{"index":"weft.index/9"}\n')],
    ['of garbage', (path: string) => writeFileSync(path, Buffer.alloc(5000, 7))],
    ['without what its lines refer to', (path: string) => dropLines(path, /^\{"(setup|shape)"/)],
    ['without its first line', (path: string) => dropLines(path, /^\{"index"/)],
  ])('%s is repaired from the run files', async (_, damage) => {
    put('a', [row(10)], day(1));
    put('b', [row(20)], day(2));
    const whole = (await readRunIndex(folder)).runs;
    damage(join(folder, indexName));
    const repaired = await readRunIndex(folder);
    expect(repaired.runs).toEqual(whole);
    expect(repaired.filesRead).toBeGreaterThan(0);
    expect((await readRunIndex(folder)).filesRead).toBe(0);
  });

  type Line = Record<string, unknown>;
  const edits: [string, string, (line: Line) => unknown][] = [
    ['setup without a world', 'header', (line) => delete (line.header as Line).world],
    ['setup with a world of text', 'header', (line) => ((line.header as Line).world = 'x')],
    ['setup whose header was altered', 'header', (line) => ((line.header as Line).benchmark = 'x')],
    ['setup with null for a header', 'header', (line) => (line.header = null)],
    ['shape of other subjects', 'subjects', (line) => (line.subjects = [{ column: 7 }])],
    ['shape of null', 'subjects', (line) => (line.subjects = [null])],
    ['run without its parts', 'p50', (line) => (line.of = [])],
    ['run with text for figures', 'p50', (line) => (line.p50 = ['10'])],
    ['run with more rows than its shape', 'p50', (line) => (line.p50 = [1, 2])],
    ['run with an unknown outcome', 'p50', (line) => (line.outcome = 'constructor')],
    ['run with unknown outcomes of rows', 'p50', (line) => (line.outcomes = '?')],
    ['run with a time that is none', 'p50', (line) => (line.startedAt = 'yesterday')],
    ['run with null for its best row', 'p50', (line) => (line.headline = null)],
    ['run with text for a rate', 'p50', (line) => (line.headline = { column: 'a', gbps: 'fast' })],
    ['skipped file with a number for the reason', 'skipped', (line) => (line.skipped = 1)],
    ['skipped file with a setup', 'skipped', (line) => (line.setup = 'x')],
  ];

  test.each(edits)('with a line of a %s is repaired', async (_, key, damage) => {
    put('a', [row(10)], day(1));
    put('b', [row(20)], day(2));
    writeFileSync(join(folder, 'foreign.jsonl'), '{"hello":"world"}\n');
    const whole = await readRunIndex(folder);
    const lines = stored().trim().split('\n');
    const edited = lines.map((text) => {
      const line = JSON.parse(text) as Line;
      if (key in line) damage(line);
      return JSON.stringify(line);
    });
    expect(edited).not.toEqual(lines);
    writeFileSync(join(folder, indexName), `${edited.join('\n')}\nnull\n7\n"x"\n[]\n`);
    const repaired = await readRunIndex(folder);
    expect(repaired.runs).toEqual(whole.runs);
    expect(repaired.skipped).toEqual(whole.skipped);
    expect(repaired.filesRead).toBeGreaterThan(0);
    expect((await readRunIndex(folder)).filesRead).toBe(0);
  });

  function dropLines(path: string, which: RegExp): void {
    const kept = stored()
      .split('\n')
      .filter((line) => !which.test(line));
    writeFileSync(path, kept.join('\n'));
  }

  test('written by several at once is whole in the end', async () => {
    const indexes = await Promise.all([1, 2, 3].map(() => RunIndex.open(folder)));
    for (let i = 0; i < 6; i++) {
      put(`run-${i}`, [row(10 + i)]);
      await Promise.all(indexes.map((index) => index.update()));
    }
    expect(ids(await readRunIndex(folder))).toHaveLength(6);
    const last = await readRunIndex(folder);
    expect(last.filesRead).toBe(0);
  });

  test('written by two processes that both rewrite it is whole in the end', {
    timeout: 60_000,
  }, async () => {
    const live = ['x', 'y'].map((id) => new RunFile({ ...header, id }, { folder }));
    // Each restamps its own live run until it has rewritten the index, and adds runs meanwhile.
    const work = `
      import { copyFileSync, utimesSync } from 'node:fs';
      import { RunIndex } from ${JSON.stringify(new URL('../../dist/results/run-index.js', import.meta.url).href)};
      const [path, name] = process.argv.slice(1);
      const index = await RunIndex.open(${JSON.stringify(folder)});
      for (let i = 1; i <= 1100; i++) {
        utimesSync(path, i, i);
        if (i % 50 === 0) copyFileSync(path, \`${folder}/\${name}-\${i}.jsonl\`);
        await index.update();
      }`;
    await Promise.all(
      live.map(({ path }, i) =>
        execa(process.execPath, ['--input-type=module', '-e', work, path, `copy${i}`]),
      ),
    );
    for (const file of live) file.close();
    expect((await readRunIndex(folder)).runs).toHaveLength(2 + 2 * 22);
    expect((await readRunIndex(folder)).filesRead).toBe(0);
    expect(stored().split('\n').length).toBeLessThan(2200);
    expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  test('of many runs is stored piece by piece, and whole in the end', async () => {
    writeManyRuns(folder, { runs: 1200, rows: 1, samples: 2 });
    expect((await readRunIndex(folder)).filesRead).toBe(1200);
    const again = await readRunIndex(folder);
    expect([again.filesRead, again.runs.length]).toEqual([0, 1200]);
  });

  test('does not repeat the header of runs made alike', async () => {
    for (let i = 0; i < 5; i++) {
      put(`run-${i}`, [row(10)]);
      await readRunIndex(folder);
    }
    expect(stored().match(/"setup":/g)).toHaveLength(1);
    expect(stored().match(/"shape":/g)).toHaveLength(1);
  });

  test('is written anew when most of it is void', async () => {
    const file = new RunFile({ ...header, id: 'a' }, { folder });
    const index = await readRunIndex(folder);
    for (let i = 1; i <= 1003; i++) {
      utimesSync(file.path, i, i);
      await index.update();
    }
    file.close();
    expect(stored().split('\n').length).toBeLessThan(10);
    expect((await readRunIndex(folder)).filesRead).toBe(0);
  });

  test('does not grow with files that are no runs', async () => {
    put('a', [row(10)]);
    const index = await readRunIndex(folder);
    const { size } = statSync(join(folder, indexName));
    for (let i = 0; i < 1100; i++) {
      writeFileSync(join(folder, 'notes.txt'), 'x'.repeat(i));
      await index.update();
    }
    expect(statSync(join(folder, indexName)).size).toBeLessThanOrEqual(size);
    for (let i = 0; i < 1200; i++) {
      writeFileSync(join(folder, 'log.jsonl'), 'x'.repeat(i));
      await index.update();
    }
    expect(stored().split('\n').length).toBeLessThan(1100);
  });

  test('that cannot be written is said, and the index is complete', async () => {
    put('a', [row(10)]);
    // Root may write to any folder, but not to a path that is one.
    mkdirSync(join(folder, indexName));
    const index = await readRunIndex(folder);
    expect(index.unsaved).toBe('EISDIR');
    expect(ids(index)).toEqual(['a']);
    expect(readdirSync(folder).sort()).toEqual([indexName, 'a.jsonl']);
  });

  test('that cannot be written is not needed', async () => {
    put('a', [row(10)]);
    mkdirSync(join(folder, indexName));
    const index = await readRunIndex(folder);
    expect(index.unsaved).toBe('EISDIR');
    expect(ids(index)).toEqual(['a']);
  });
});
