import { describe, expect, test } from 'vitest';
import { historyOf } from '../../src/analysis/history/history.js';
import { verdictOf } from '../../src/analysis/verdict/verdict.js';
import { expositionText } from '../../src/results/formats/exposition.js';
import {
  formatHistoryMetrics,
  formatNoRun,
  formatRunMetrics,
} from '../../src/results/formats/metrics.js';
import { formatMetrics } from '../../src/results/formats/verdict.js';
import { indexedRuns } from '../analysis/history/indexed.js';
import { parseExposition } from './exposition-parser.js';
import { runOf, sampleRow, writeRun } from './fixtures.js';

const one = (text: string, name: string, labels: Record<string, string> = {}) =>
  parseExposition(text).filter(
    (sample) =>
      sample.name === name &&
      Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  );

describe('metrics of runs', () => {
  test('are in base units', () => {
    const text = formatRunMetrics([writeRun()]);
    const row = { column: 'MultiPin', size_bytes: '4194304' };
    expect(one(text, 'weft_row_time_seconds', { ...row, statistic: 'p50' })).toMatchObject([
      { value: 145.17e-6, labels: { benchmark: 'write', ranks: '4', hosts: '4', provider: 'tcp' } },
    ]);
    const [rate] = one(text, 'weft_row_bandwidth_bytes_per_second', row);
    expect(rate!.value).toBeCloseTo(4194304 / 145.17e-6, -2);
    const [share] = one(text, 'weft_row_busbw_ratio', row);
    expect(share!.value).toBeCloseTo(0.578, 2);
    expect(one(text, 'weft_run_passed')).toMatchObject([{ value: 1 }]);
    expect(one(text, 'weft_run_timestamp_seconds')).toMatchObject([
      { value: Date.parse('2026-01-02T03:05:00.000Z') / 1000 },
    ]);
    expect(one(text, 'weft_row_passed', { column: 'SingleDMA' })).toEqual([]);
  });

  test('of the same thing twice are those of the later run', () => {
    const run = (us: number) => runOf([sampleRow({ column: 'SinglePin', bytes: 64, us })]);
    const text = formatRunMetrics([run(1), run(2)]);
    expect(one(text, 'weft_row_time_seconds', { statistic: 'p50' })).toMatchObject([
      { value: 2e-6 },
    ]);
  });

  test('escape whatever names hold', () => {
    const column = 'a"b\\c\nd{e},f';
    const text = formatRunMetrics([runOf([sampleRow({ column, bytes: 64, us: 1 })])]);
    expect(one(text, 'weft_row_passed')[0]!.labels.column).toBe(column);
  });

  test('say that a benchmark did not run', () => {
    const text = formatNoRun('write', new Date(5000));
    expect(one(text, 'weft_run_passed', { benchmark: 'write' })).toMatchObject([{ value: 0 }]);
    expect(one(text, 'weft_run_timestamp_seconds')).toMatchObject([{ value: 5 }]);
  });
});

test('metrics of a history have the latest, the usual and the last change', () => {
  const runs = indexedRuns(
    Array.from({ length: 30 }, (_, day) => ({
      day,
      rows: [
        sampleRow({ column: 'SinglePin', bytes: 64, us: (day < 15 ? 10 : 20) + (day % 3) / 100 }),
      ],
    })),
  );
  const text = formatHistoryMetrics(historyOf(runs));
  expect(one(text, 'weft_history_runs')).toMatchObject([{ value: 30 }]);
  expect(one(text, 'weft_history_changes')).toMatchObject([{ value: 1 }]);
  expect(one(text, 'weft_history_change_ratio')[0]!.value).toBeCloseTo(2, 2);
  expect(one(text, 'weft_history_change_timestamp_seconds')).toMatchObject([
    { value: Date.UTC(2026, 0, 16) / 1000 },
  ]);
  expect(one(text, 'weft_history_usual_seconds')[0]!.value).toBeCloseTo(20e-6, 7);
});

test('metrics of a verdict keep the worse of two items of one name', () => {
  const item = (grade: 'pass' | 'fail') => ({ name: 'x', grade, reason: 'y' });
  const verdict = verdictOf({ against: 'z', items: [item('fail'), item('pass')], runs: [] });
  const text = formatMetrics(verdict, new Date(0));
  expect(one(text, 'weft_check_item_grade')).toMatchObject([{ value: 2 }]);
});

test('values that are no numbers are left out, and families without values', () => {
  const family = (name: string, value: number | null) => ({
    name,
    help: 'h',
    samples: [{ value }],
  });
  expect(expositionText([family('a', null), family('b', Number.NaN)])).toBe('');
  expect(expositionText([family('c', 1e21)])).toBe('# HELP c h\n# TYPE c gauge\nc 1e+21\n');
});
