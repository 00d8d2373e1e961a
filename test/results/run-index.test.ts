import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { skippedRow } from '../../src/results/rows.js';
import { RunFile } from '../../src/results/run-file.js';
import { readRunIndex, rowsOf } from '../../src/results/run-index.js';
import { header, sampleRow } from './fixtures.js';
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
