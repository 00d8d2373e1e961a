import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { historyOf } from '../../src/analysis/history/history.js';
import { formatCsv } from '../../src/results/formats/csv.js';
import { formatHistory } from '../../src/results/formats/history.js';
import { indexedRuns } from '../analysis/history/indexed.js';
import { header, runOf, sampleRow, writeRun } from './fixtures.js';

const sizes = [65_536, 1_048_576, 16_777_216];
const columns = ['SinglePin', 'MultiPin', 'RoundRobinPin'];
const history = historyOf(
  indexedRuns(
    Array.from({ length: 50 }, (_, day) => ({
      day,
      rows: columns.flatMap((column) =>
        sizes.map((bytes) => {
          const slow = day >= 30 && column === 'MultiPin' ? 1.9 : 1;
          return sampleRow({ column, bytes, us: (bytes / 3000) * slow + (day % 5) / 50 });
        }),
      ),
      changes: { fabric: { ...header.fabric, version: day < 30 ? '1.17' : '1.22' } },
    })),
  ),
);

describe('a history', () => {
  test('is a table of at most 100 columns with spark lines and changes', () => {
    const text = formatHistory(history, 'table');
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100);
    expect(text).toMatchInlineSnapshot(`
      "9 rows in 50 runs: 1 change, the latest on 2026-01-31: write, 3 rows became 1.90× slower

      write, 4 ranks on 4 hosts, tcp
      Row                Runs      Latest       Usual  Trend             Last change (UTC)
      SinglePin 64K        50  23.91 Gbps  23.96 Gbps  ▅▄▅▅▄▅▄▄▅▄▅▅▄▅▄▄
      SinglePin 1M         50  23.99 Gbps  24.00 Gbps  ▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅
      SinglePin 16M        50  24.00 Gbps  24.00 Gbps  ▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅
      MultiPin 64K         50  12.61 Gbps  12.62 Gbps  ██████████▁▁▁▁▁▁  1.90× slower on 2026-01-31
      MultiPin 1M          50  12.63 Gbps  12.63 Gbps  ██████████▁▁▁▁▁▁  1.90× slower on 2026-01-31
      MultiPin 16M         50  12.63 Gbps  12.63 Gbps  ██████████▁▁▁▁▁▁  1.90× slower on 2026-01-31
      RoundRobinPin 64K    50  23.91 Gbps  23.96 Gbps  ▅▄▅▅▄▅▄▄▅▄▅▅▄▅▄▄
      RoundRobinPin 1M     50  23.99 Gbps  24.00 Gbps  ▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅
      RoundRobinPin 16M    50  24.00 Gbps  24.00 Gbps  ▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅

      2026-01-31 00:00 UTC  write, 4 ranks on 4 hosts, tcp: 3 rows became 1.90× slower
        MultiPin 64K, MultiPin 1M, MultiPin 16M
        also changed: libfabric 1.17 → 1.22
        first run after it: run-0030; last run before it: run-0029
      "
    `);
  });

  test('has a Markdown table', () => {
    const text = formatHistory(history, 'markdown');
    expect(text).toContain('### write, 4 ranks on 4 hosts, tcp\n\n| Row ');
    expect(text).toContain('libfabric 1.17 → 1.22');
  });

  test('is one JSON object', () => {
    const json = JSON.parse(formatHistory(history, 'json'));
    expect(json).toMatchObject({ schema: 'weft.history/1', runs: 50, tolerance: 0.05 });
    expect(json.rows).toHaveLength(9);
    expect(json.rows[3]).toMatchObject({
      benchmark: 'write',
      column: 'MultiPin',
      bytes: 65_536,
      ranks: 4,
      runs: 50,
      latest: { run: 'run-0049', at: '2026-02-19T00:00:00.000Z' },
      changes: [{ at: '2026-01-31T00:00:00.000Z', before: 'run-0029', after: 'run-0030' }],
      tooFew: false,
    });
    expect(json.events).toMatchObject([
      { rows: [{}, {}, {}], changed: [{ what: 'libfabric', from: '1.17', to: '1.22' }] },
    ]);
  });
});

describe('CSV', () => {
  /** What Python's reader makes of it, with the strictness of one that is not asked to forgive. */
  const read = (text: string): Record<string, string>[] =>
    JSON.parse(
      execFileSync(
        'python3',
        [
          '-c',
          'import csv,json,sys,io\nr=csv.DictReader(io.TextIOWrapper(sys.stdin.buffer,newline=""),strict=True)\nrows=list(r)\nassert all(None not in x and None not in x.values() for x in rows)\nprint(json.dumps(rows))',
        ],
        { input: text, encoding: 'utf8' },
      ),
    );

  test('of a history has a record per row and run, with times and plain numbers', () => {
    const rows = read(formatHistory(history, 'csv'));
    expect(rows).toHaveLength(450);
    expect(rows[0]).toMatchObject({
      started_at: '2026-01-01T00:00:00.000Z',
      run: 'run-0000',
      benchmark: 'write',
      nodes: '4',
      config: 'SinglePin',
      size_bytes: '65536',
      level: '0',
      change_factor: '',
    });
    for (const row of rows) {
      expect(Number(row.p50_us)).toBeGreaterThan(0);
      expect(Number.isFinite(Number(row.gbps))).toBe(true);
      expect(Number.isNaN(Date.parse(row.started_at!))).toBe(false);
    }
    const changed = rows.filter((row) => row.change_factor !== '');
    expect(changed.map(({ config, run }) => `${config} ${run}`)).toEqual(
      sizes.map(() => 'MultiPin run-0030'),
    );
  });

  test('of a run has the time it started and survives commas, quotes and lines in names', () => {
    const odd = 'a,"b"\nc';
    const rows = read(
      formatCsv(runOf([sampleRow({ column: odd, bytes: 64, us: 1 }), ...writeRun().rows])),
    );
    expect(rows[0]).toMatchObject({ config: odd, started_at: header.startedAt, size_bytes: '64' });
    expect(rows).toHaveLength(9);
  });
});
