import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatRun, runPieces } from '../../src/results/formats/format-run.js';
import { formatRunMetrics } from '../../src/results/formats/metrics.js';
import { byRank, slowestRows } from '../../src/results/large-matrix.js';
import { readRun, rowsInFile } from '../../src/results/read-run.js';
import { readRunIndex } from '../../src/results/run-index.js';
import type { Run } from '../../src/results/schema.js';
import { largeRun, linesOf, slowPair, slowRank } from './large-run.js';

// More rows than a call takes arguments.
const many = largeRun(360);
const some = largeRun(150);

describe('of more ranks than fit', () => {
  test('Markdown lists the slowest ranks, not the matrix', () => {
    const text = formatRun(many, 'markdown');
    expect(text).toMatch(/360 × 360 ranks, slowest 10 relative to the best/);
    expect(text).toMatch(/^\| h7 +\| +56 % \| +56 % \| +56 % \|$/m);
    expect(text).toMatch(/^\| h3 .* 33 % \|$/m);
    expect(text.length).toBeLessThan(2000);
  });

  test.each(['csv', 'nccl', 'json'] as const)(
    '%s comes in short pieces, with every row',
    (format) => {
      // A row is one line in all of them.
      const marks = {
        csv: /^pairs,/gm,
        nccl: /^ +1000000 /gm,
        json: /^ +\{"kind":"pair",.*\},?$/gm,
      };
      let rows = 0;
      for (const piece of runPieces(some, format)) {
        expect(piece.length).toBeLessThan(2 ** 21);
        rows += piece.match(marks[format])?.length ?? 0;
      }
      expect(rows).toBe(150 * 149);
    },
  );

  test('JSON in pieces is one object', () => {
    const few = { ...many, rows: many.rows.slice(0, 2500) };
    expect(JSON.parse(formatRun(few, 'json'))).toEqual(JSON.parse(JSON.stringify(few)));
    expect(JSON.parse(formatRun({ ...many, rows: [] }, 'json')).rows).toEqual([]);
  });

  test('the slowest rows name the slow pair first', () => {
    const [first, second] = slowestRows(many);
    expect(first!.labels).toMatchObject(slowPair);
    expect([second!.labels.from, second!.labels.to]).toContain(slowRank);
    expect(slowestRows(many)).toHaveLength(50);
  });

  test('by rank, a row is the median over its peers', () => {
    const { rows } = byRank(many);
    expect(rows).toHaveLength(720);
    const out = rows.find(({ labels }) => labels.from === slowRank)!;
    expect(out.labels).toEqual({ memory: 'pinned', from: slowRank });
    expect(out.nanoseconds).toMatchObject({ p50: 180_000, max: 180_000 });
    expect(rows.find(({ labels }) => labels.from === slowPair.from)!.nanoseconds).toMatchObject({
      p50: 100_000,
      max: 300_000,
    });
    expect(formatRunMetrics([many]).split('\n').length).toBeLessThan(20_000);
  });
});

describe('on disk', () => {
  const folder = mkdtempSync(join(tmpdir(), 'weft-large-'));
  const path = join(folder, 'pairs.jsonl');
  const written = some;
  let read: Run;

  beforeAll(() => {
    writeFileSync(path, [...linesOf(written)].join(''));
    ({ run: read } = readRun(path));
  });

  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  test('a run in memory has every row, without samples', () => {
    expect(read.rows).toHaveLength(150 * 149);
    const [row] = read.rows;
    expect(row).toMatchObject({ outcome: 'passed', samples: [], labels: { from: 0, to: 1 } });
    expect(row!.nanoseconds!.p50).toBe(written.rows[0]!.nanoseconds!.p50);
    expect(read).toMatchObject({ outcome: 'passed', endedAt: written.endedAt });
  });

  test('the file gives the rows as they were written', () => {
    expect(rowsInFile(path).next().value).toEqual(written.rows[0]);
    const json = formatRun(read, 'json', { rows: rowsInFile(path) });
    expect(JSON.parse(json).rows).toEqual(JSON.parse(JSON.stringify(written.rows)));
  });

  test('a damaged line is named, and what comes before it is kept', () => {
    const damaged = join(folder, 'damaged.txt');
    const lines = [...linesOf(written)];
    lines[5000] = lines[5000]!.replace('"p50":', '"p50":"x","was":');
    writeFileSync(damaged, lines.join(''));
    const { run, damage } = readRun(damaged);
    expect(damage?.message).toMatch(/line 5001: .*nanoseconds.p50.*; 4999 rows before it/);
    expect(run.rows).toHaveLength(4999);
  });

  test('the index has one row for all pairs', async () => {
    const { runs } = await readRunIndex(folder);
    const [run] = runs;
    expect(run!.tried).toBe(150 * 149);
    expect(run!.shape.subjects).toEqual([
      { kind: 'pair', column: 'Bandwidth', bytes: 1_000_000, labels: { memory: 'pinned' } },
    ]);
    expect(run!.values.p50Nanoseconds[0]).toBe(100_000);
  });
});
