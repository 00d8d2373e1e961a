import { describe, expect, test } from 'vitest';
import { historyOf } from '../../../src/analysis/history/history.js';
import {
  answerOf,
  changedText,
  eventText,
  remarkOf,
  trendSteps,
} from '../../../src/analysis/history/words.js';
import { seededRandom } from '../../../src/measure/seeded-random.js';
import { skippedRow } from '../../../src/results/rows.js';
import type { Row } from '../../../src/results/schema.js';
import { header, sampleRow } from '../../results/fixtures.js';
import { indexedRuns } from './indexed.js';

const columns = ['SinglePin', 'MultiPin'];
const random = seededRandom(7);
const jitter = () => 1 + 0.02 * (random() - 0.5);

/** Two rows of one size, `slow` times as slow. */
const rowsOf = (slow: number): Row[] =>
  columns.map((column) => sampleRow({ column, bytes: 1 << 20, us: 100 * slow * jitter() }));

const days = (count: number) => Array.from({ length: count }, (_, day) => day);
const withVersion = (version: string) => ({ fabric: { ...header.fabric, version } });

describe('a folder of runs', () => {
  const runs = indexedRuns(
    days(40).map((day) => ({
      day,
      rows: rowsOf(day < 25 ? 1 : 2),
      changes: withVersion(day < 25 ? '1.17' : '1.22'),
    })),
  );

  test('in which all rows got slower at once has one event that says what else changed', () => {
    const history = historyOf(runs);
    expect(history.trends).toHaveLength(2);
    expect(history.events).toHaveLength(1);
    const [event] = history.events;
    expect(event).toMatchObject({
      before: { id: 'run-0024' },
      after: { id: 'run-0025', startedAt: '2026-01-26T00:00:00.000Z' },
      place: { benchmark: 'write', ranks: 4, hosts: 4, provider: 'tcp' },
      changed: [{ what: 'libfabric', from: '1.17', to: '1.22' }],
    });
    expect(event!.factor).toBeCloseTo(2, 1);
    expect(eventText(event!)).toBe('2 rows became 2.0× slower');
    expect(changedText(event!)).toBe('also changed: libfabric 1.17 → 1.22');
    expect(remarkOf(history.trends[0]!)).toBe('2.0× slower on 2026-01-26');
    const [change] = history.trends[0]!.changes;
    const twice = { ...history.trends[0]!, changes: [change!, change!] };
    expect(remarkOf(twice)).toBe('2.0× slower on 2026-01-26 (last of 2 changes)');
    expect(remarkOf(twice, true)).toBe('2.0× slower on 2026-01-26 (last of 2)');
    expect(answerOf(history)).toBe(
      '2 rows in 40 runs: 1 change, the latest on 2026-01-26: write, 2 rows became 2.0× slower',
    );
  });

  test('is cut by benchmark, column and date', () => {
    expect(historyOf(runs, { column: 'MultiPin' }).trends).toHaveLength(1);
    expect(historyOf(runs, { benchmark: 'all2all' }).trends).toEqual([]);
    const late = historyOf(runs, { since: '2026-01-30T00:00:00.000Z' });
    expect(late).toMatchObject({ runs: 11, events: [] });
  });
});

test('runs of other worlds, providers and benchmarks are other rows', () => {
  const made = [
    { changes: {} },
    { changes: { benchmark: 'all2all' } },
    { changes: { world: { ...header.world, ranks: 8 } } },
    { changes: { world: { ...header.world, hosts: ['a', 'b'] } } },
    { changes: { fabric: { ...header.fabric, provider: 'shm' } } },
  ].map(({ changes }, day) => ({ day, rows: rowsOf(1).slice(0, 1), changes }));
  expect(historyOf(indexedRuns(made)).trends).toHaveLength(5);
  // Which hosts they are may change.
  const moved = [0, 1].map((day) => ({
    day,
    rows: rowsOf(1).slice(0, 1),
    changes: { world: { ...header.world, hosts: [`a${day}`, 'b', 'c', 'd'] } },
  }));
  expect(historyOf(indexedRuns(moved)).trends).toHaveLength(1);
});

describe('what else changed', () => {
  const changedAt = (changesOf: (day: number) => Record<string, unknown>) =>
    historyOf(
      indexedRuns(
        days(40).map((day) => ({ day, rows: rowsOf(day < 20 ? 1 : 3), changes: changesOf(day) })),
      ),
    ).events[0]!.changed;

  test('has settings, but not those that only choose rows', () => {
    const changed = changedAt((day) => ({
      settings: { chunkBytes: day < 20 ? 262_144 : 1_048_576, maxBytes: day < 20 ? 1 : 2 },
    }));
    expect(changed).toEqual([{ what: 'chunkBytes', from: '262144', to: '1048576' }]);
  });

  test('has facts of the hosts, and whatever later versions record', () => {
    const changed = changedAt((day) => ({
      world: {
        ...header.world,
        facts: {
          driver: day < 20 ? '2.8' : '2.13',
          mtu: day < 20 ? '9001' : { 9001: '0-2', 1500: '3' },
          kernel: '6.1',
        },
      },
      later: { something: day < 20 },
    }));
    expect(changed).toEqual([
      { what: 'NIC driver', from: '2.8', to: '2.13' },
      { what: 'MTU', from: '9001', to: '9001 on 3 hosts, 1500 on d' },
      { what: 'later.something', from: 'true', to: 'false' },
    ]);
  });

  test('leaves out what differs from run to run', () => {
    const changed = changedAt((day) => ({
      world: { ...header.world, hosts: [`n${day}`, 'b', 'c', 'd'] },
    }));
    expect(changed).toEqual([]);
  });

  test('names a host list that changed for good', () => {
    const changed = changedAt((day) => ({
      world: { ...header.world, hosts: [day < 20 ? 'a' : 'z', 'b', 'c', 'd'] },
    }));
    expect(changed).toEqual([{ what: 'hosts', from: 'a, b, c, d', to: 'z, b, c, d' }]);
  });
});

describe('a row', () => {
  const one = (factors: readonly number[]) =>
    historyOf(indexedRuns(factors.map((factor, day) => ({ day, rows: rowsOf(factor) }))))
      .trends[0]!;

  test('of few runs says so', () => {
    expect(remarkOf(one([1, 1, 1]))).toBe('too few runs');
  });

  test('whose newest run is far off says so, and that is no change', () => {
    const trend = one([...new Array<number>(15).fill(1), 2]);
    expect(trend.changes).toEqual([]);
    expect(remarkOf(trend)).toMatch(/^latest run (1\.9\d|2\.0)× slower$/);
    expect(remarkOf(one(new Array<number>(16).fill(1)))).toBe('');
  });

  test('that failed in its newest run says so', () => {
    const made = days(10).map((day) => ({
      day,
      rows:
        day < 9
          ? rowsOf(1)
          : [skippedRow({ column: 'SinglePin', bytes: 1 << 20, outcome: 'failed', reason: 'x' })],
    }));
    const history = historyOf(indexedRuns(made));
    expect(history.trends[0]!.series.failed).toMatchObject({ id: 'run-0009' });
    expect(answerOf(history)).toBe(
      '2 rows in 10 runs: no lasting change; 1 row failed in its latest run',
    );
  });
});

test('a trend in few steps keeps its ends and does not stretch noise', () => {
  expect(trendSteps([1, 1, 2, 2], 2)).toEqual([1, 0]);
  for (const step of trendSteps([100, 101, 100, 101], 4)) {
    expect(Math.abs(step - 0.5)).toBeLessThan(0.1);
  }
});
