import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { skippedRow } from '../../src/results/rows.js';
import { RunFile } from '../../src/results/run-file.js';
import { indexName, RunIndex, readRunIndex, rowsOf } from '../../src/results/run-index.js';
import type { Row, RunHeader } from '../../src/results/schema.js';
import { writeManyRuns } from '../live/many-runs.js';
import { header, sampleRow } from './fixtures.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weft-index-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const row = (us: number, changes: Partial<Row> = {}): Row => ({
  ...sampleRow({ column: 'SinglePin', bytes: 4096, us }),
  ...changes,
});

function put(id: string, rows: readonly Row[], changes: Partial<RunHeader> = {}): string {
  const file = new RunFile({ ...header, id, ...changes }, { folder });
  for (const each of rows) file.append(each);
  file.finish({ endedAt: '2026-01-02T03:05:00.000Z', outcome: 'passed', errors: [] });
  return file.path;
}

const day = (number: number): Partial<RunHeader> => ({
  startedAt: `2026-01-0${number}T00:00:00.000Z`,
});
const stored = () => readFileSync(join(folder, indexName), 'utf8');
const ids = (index: RunIndex) => index.runs.map(({ id }) => id);

describe('an index', () => {
  test('has the figures of every run, oldest first', async () => {
    put('b', [row(20), sampleRow({ column: 'MultiPin', bytes: 64, us: 3 })], day(2));
    put('a', [row(10), skippedRow({ column: 'SingleDMA', reason: 'no GPU' })], day(1));
    const { runs } = await readRunIndex(folder);
    expect(runs.map(({ id }) => id)).toEqual(['a', 'b']);
    expect(runs[0]).toMatchObject({
      file: 'a.jsonl',
      outcome: 'passed',
      tried: 1,
      endedAt: '2026-01-02T03:05:00.000Z',
      headline: { column: 'SinglePin', bytes: 4096 },
      setup: { header: { benchmark: 'write', settings: header.settings, world: header.world } },
    });
    const [first, skipped] = rowsOf(runs[0]!);
    expect(first).toMatchObject({
      column: 'SinglePin',
      bytes: 4096,
      labels: { memory: 'pinned' },
      outcome: 'passed',
      p50Nanoseconds: 10_000,
      gbps: (4096 * 8) / 10_000,
      spread: 20 / 10_000,
    });
    expect(skipped).toMatchObject({ outcome: 'skipped', p50Nanoseconds: null, gbps: null });
  });

  test('says the same when it comes from the index file', async () => {
    put('a', [row(10.5), row(33.333, { bytes: 8192 })]);
    put('b', [row(11, { outcome: 'failed', reason: 'wrong' })]);
    const read = await readRunIndex(folder);
    const again = await readRunIndex(folder);
    expect([read.filesRead, again.filesRead]).toEqual([2, 0]);
    expect(again.runs).toEqual(read.runs);
    expect(again.runs[0]!.setup).toBe(again.runs[1]!.setup);
  });

  test('takes the median of repeats, and a failure for a failure', async () => {
    put(
      'a',
      [10, 30, 20].map((us, repeat) => row(us, { repeat })),
    );
    put('b', [row(10, { repeat: 0 }), row(20, { repeat: 1, outcome: 'failed' })]);
    const [a, b] = (await readRunIndex(folder)).runs;
    expect(rowsOf(a!)).toMatchObject([{ p50Nanoseconds: 20_000, outcome: 'passed' }]);
    expect(a!.tried).toBe(3);
    expect(rowsOf(b!)).toMatchObject([{ p50Nanoseconds: 10_000, outcome: 'failed' }]);
  });

  test('keeps what later versions add to the header', async () => {
    const path = put('a', [row(10)]);
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replace('"settings"', '"hostFacts":{"a":{"mtu":9000}},"settings"'));
    await readRunIndex(folder);
    const [run] = (await readRunIndex(folder)).runs;
    expect(run!.setup.header.hostFacts).toEqual({ a: { mtu: 9000 } });
  });

  test('reads only files that are new or changed, and forgets those that went', async () => {
    const path = put('a', [row(10)]);
    put('b', [row(10)]);
    const index = await readRunIndex(folder);
    put('c', [row(10)]);
    expect((await index.update()).filesRead).toBe(1);
    const text = readFileSync(path, 'utf8');
    rmSync(path);
    expect(ids(await index.update())).toEqual(['b', 'c']);
    writeFileSync(path, text);
    utimesSync(path, 1e9, 1e9);
    const other = await readRunIndex(folder);
    expect(other.filesRead).toBe(1);
    expect(ids(other)).toHaveLength(3);
  });

  test('follows a run that is being written', async () => {
    const file = new RunFile({ ...header, id: 'a' }, { folder });
    file.append(row(10));
    const index = await readRunIndex(folder);
    expect(index.runs).toMatchObject([{ outcome: 'aborted', endedAt: null, tried: 1 }]);
    file.finish({ endedAt: '2026-01-02T03:05:00.000Z', outcome: 'passed', errors: [] });
    expect((await index.update()).runs).toMatchObject([{ outcome: 'passed' }]);
  });

  test('counts files that are not run files, and damaged ones, and leaves other files alone', async () => {
    put('good', [row(10)]);
    appendFileSync(put('damaged', [row(10)]), 'garbage\n');
    writeFileSync(join(folder, 'foreign.jsonl'), '{"hello":"world"}\n');
    writeFileSync(join(folder, 'empty.jsonl'), '');
    writeFileSync(join(folder, 'report.html'), '<html>');
    mkdirSync(join(folder, 'folder.jsonl'));
    for (const filesRead of [5, 1]) {
      const index = await readRunIndex(folder);
      expect(index.filesRead).toBe(filesRead);
      expect(ids(index)).toEqual(['good']);
      expect(Object.fromEntries(index.skipped.map((one) => [one.file, one.skipped]))).toEqual({
        'damaged.jsonl': 'damaged at line 4',
        'foreign.jsonl': 'not a run file',
        'empty.jsonl': 'not a run file',
      });
      expect(await index.update()).toMatchObject({ filesRead: 0 });
      expect(stored()).not.toContain('report.html');
    }
  });
});

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

  test.skipIf(process.getuid?.() === 0)('in a read-only folder is not needed', async () => {
    put('a', [row(10)]);
    chmodSync(folder, 0o555);
    const index = await readRunIndex(folder);
    chmodSync(folder, 0o755);
    expect(index.unsaved).toBe('EACCES');
    expect(ids(index)).toEqual(['a']);
  });
});
