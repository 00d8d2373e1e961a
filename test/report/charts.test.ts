import { describe, expect, test } from 'vitest';
import { chartsOf } from '../../src/report/charts.js';
import { skippedRow } from '../../src/results/rows.js';
import type { Run } from '../../src/results/schema.js';
import { axisOf, chart, linesIn, type Series, seriesOf } from './drawn.js';
import * as made from './fixtures.js';
import * as gpu from './gpu-fixtures.js';

const idsOf = (runs: readonly Run[]) => chartsOf(runs).map(({ id }) => id);

const everything = (): Run[][] => [
  [made.referenceRun('sendrecv')],
  [made.referenceRun('write')],
  [made.referenceRun('all2all')],
  made.nodeRuns(),
  made.bufferRuns(),
  [gpu.proxyRun()],
  [gpu.ipcRun()],
  [gpu.queueRun()],
  [made.pairsRun(8, ['rail0', 'rail1'])],
];

test('times of requests are drawn as a distribution', () => {
  const times = (from: number) => Array.from({ length: 201 }, (_, i) => from + i * 1000);
  const requests = (column: string, from: number, bytes: number) =>
    made.row({
      ...{ column, bytes, us: 500 },
      ...{ lastPageP50Nanoseconds: from + 100_000, lastPageP99Nanoseconds: from + 198_000 },
      requestTimes: { requests: 4000, quantiles: times(from) },
    });
  const run = made.run('kv', [
    requests('PushMultiPin', 100_000, 65_536),
    requests('PullMultiPin', 200_000, 65_536),
    requests('PullMultiPin', 900_000, 262_144),
    made.row({ column: 'PushRoundRobinPin', bytes: 65_536, us: 400 }),
  ]);
  const drawn = chart([run], 'request-times');
  expect(drawn.title).toContain('64K');
  expect(drawn.summary).toBe(
    'PushMultiPin p50 200 us, p99 298 us; PullMultiPin p50 300 us, p99 398 us',
  );
  const [push, pull, ...rest] = seriesOf(drawn);
  expect(rest).toEqual([]);
  expect([push!.data[0], push!.data.at(-1)]).toEqual([
    [100_000, 0],
    [300_000, 100],
  ]);
  expect(pull!.data[100]).toEqual([300_000, 50]);
});

describe('every figure of the reference has its chart', () => {
  test('bandwidth by size', () => {
    const drawn = chart([made.referenceRun('write')], 'bandwidth');
    const lines = linesIn(drawn);
    expect(lines.map(({ name }) => name)).toEqual([
      'SinglePin',
      'SingleDMA',
      'MultiDMA',
      'RoundRobinDMA',
    ]);
    const multi = lines[2]!.data.at(-1)!;
    expect(multi[0]).toBe(2 ** 30);
    expect(multi[1]).toBeGreaterThan(360);
    expect(multi[1]).toBeLessThan(390);
    expect(axisOf(drawn, 'xAxis')).toMatchObject({
      type: 'log',
      name: 'size',
      axisLabel: { formatter: '@bytes' },
    });
    expect(axisOf(drawn, 'yAxis')).toMatchObject({
      type: 'value',
      axisLabel: { formatter: '@gbps' },
    });
  });

  test('all-to-all by configuration', () => {
    const drawn = chart([made.referenceRun('all2all')], 'configurations');
    expect((drawn.option.xAxis as { data: string[] }).data).toEqual([
      'SingleDMA',
      'MultiDMA',
      'RoundRobinDMA',
      'SinglePin',
      'MultiPin',
    ]);
    expect(drawn.title).toContain('32M');
    expect(drawn.summary).toMatch(/^highest MultiDMA with 4\d\.\d+ Gbps/);
  });

  test('all-to-all by number of nodes', () => {
    const drawn = chart(made.nodeRuns(), 'nodes');
    const single = linesIn(drawn).find(({ name }) => name === 'SingleDMA')!;
    expect(single.data.map(([hosts]) => hosts)).toEqual([2, 4, 8, 16]);
    expect(axisOf(drawn, 'xAxis')).toMatchObject({ type: 'log', name: 'hosts' });
  });

  test('round-robin against split', () => {
    const drawn = chart(made.bufferRuns(), 'buffers');
    expect(linesIn(drawn).map(({ name }) => name)).toContain('RoundRobinDMA');
    expect(linesIn(drawn)[0]!.data.map(([buffers]) => buffers)).toEqual([1, 2, 4, 8]);
    expect(idsOf(made.bufferRuns())).toContain('buffers-time');
  });

  test('round-robin against split in a single run', () => {
    const [, , , run] = made.bufferRuns();
    const larger = run!.rows.map((row) => ({ ...row, bytes: row.bytes! * 2 }));
    const drawn = chart([{ ...run!, rows: [...run!.rows, ...larger] }], 'buffers');
    expect(drawn.title).toBe('Round-robin versus split: bandwidth with 8 buffers');
  });
});

describe('charts', () => {
  test.each(everything().map((runs) => [runs[0]!.benchmark, runs] as const))(
    'of %s are plain JSON with unique ids',
    (_, runs) => {
      const charts = chartsOf(runs);
      expect(charts.length).toBeGreaterThan(0);
      expect(JSON.parse(JSON.stringify(charts))).toEqual(charts);
      expect(new Set(charts.map(({ id }) => id)).size).toBe(charts.length);
      for (const each of charts) {
        expect(each.summary).not.toBe('');
        expect(each.caption).not.toBe('');
        expect(JSON.stringify(each.option)).not.toMatch(/NaN|Infinity/);
      }
    },
  );

  test('are the same for the same runs', () => {
    expect(chartsOf([made.referenceRun('write')])).toEqual(chartsOf([made.referenceRun('write')]));
  });

  test('carry the benchmark in their ids where there are several', () => {
    const ids = idsOf([made.referenceRun('write'), made.referenceRun('all2all')]);
    expect(ids).toContain('write-bandwidth');
    expect(ids).toContain('all2all-ranks');
  });

  test('hold where nine of ten iterations lie around the mean', () => {
    const [line] = linesIn(chart([made.referenceRun('write')], 'latency'));
    for (const [, mean, low, high] of line!.data) {
      expect(low).toBeLessThan(mean!);
      expect(high).toBeGreaterThan(mean!);
    }
  });

  test('name runs by what differs and tell them apart without colour', () => {
    const a = made.referenceRun('write');
    const b = { ...a, fabric: { ...a.fabric, provider: 'tcp' } };
    const lines = linesIn(chart([a, b], 'bandwidth')) as (Series & {
      lineStyle: { type: string; color: string };
    })[];
    expect(lines[0]!.name).toBe('SinglePin · efa');
    expect(lines[4]!.name).toBe('SinglePin · tcp');
    expect(lines[4]!.lineStyle).toMatchObject({ type: 'dashed', color: lines[0]!.lineStyle.color });
  });

  test('give a run without rates no percentages', () => {
    const rows = [1024, 2048].map((bytes) => made.row({ column: 'SinglePin', bytes, us: 5 }));
    const ids = idsOf([made.run('write', rows)]);
    expect(ids).toContain('bandwidth');
    expect(ids).not.toContain('busbw');
    expect(ids).not.toContain('of-bound');
  });

  test('show one size as bars', () => {
    const rows = [made.row({ column: 'SinglePin', bytes: 1024, us: 5 })];
    expect(idsOf([made.run('write', rows)])).toEqual([
      'latency',
      'configurations',
      'spread',
      'distribution',
    ]);
  });

  test('mark rows that failed', () => {
    const rows = [1024, 2048].map((bytes) =>
      made.row({ column: 'SinglePin', bytes, us: 5, ...(bytes === 2048 && { failure: 'wrong' }) }),
    );
    const drawn = chart([made.run('write', rows)], 'bandwidth');
    expect(linesIn(drawn)[0]!.data[1]).toMatchObject({ itemStyle: { color: '@warn' } });
    expect(drawn.caption).toContain('failed');
  });

  test('of a run in which nothing could run are none', () => {
    expect(
      chartsOf([made.run('write', [skippedRow({ column: 'MultiDMA', reason: 'no GPU' })])]),
    ).toEqual([]);
    expect(chartsOf([made.run('write', [])])).toEqual([]);
    expect(chartsOf([])).toEqual([]);
  });

  test('map every pair, per rail, and cross out those without a result', () => {
    const charts = chartsOf([made.pairsRun(8, ['rail0', 'rail1'])]);
    const maps = charts.filter(({ kind }) => kind === 'pairs');
    expect(maps.map(({ title }) => title)).toEqual([
      'Bandwidth of every pair, 4M, rail0',
      'Bandwidth of every pair, 4M, rail1',
    ]);
    const [cells, missing] = seriesOf(maps[0]!);
    expect(cells!.data).toHaveLength(8 * 7 - 1);
    expect(missing!.data).toEqual([[1, 5]]);
    expect(maps[0]!.summary).toContain('lowest rank 2 to rank 6 with 30.');
    expect(charts.map(({ kind }) => kind)).toContain('rails');
  });
});

test('latencies of pairs are half their round trips, at a size of their own', () => {
  const run = made.pairsRun(2);
  const trip = made.row({
    kind: 'pair',
    column: 'Latency',
    bytes: 8,
    us: 30,
    labels: { from: 0, to: 1 },
    roundTrip: true,
  });
  const charts = chartsOf([{ ...run, rows: [...run.rows, trip] }]);
  expect(charts.map(({ title }) => title)).toEqual([
    'Bandwidth of every pair, 4M',
    'Latency of 1 of 2 pairs, 8 bytes',
  ]);
  expect(charts.map(({ caption }) => caption.includes('not measured'))).toEqual([false, true]);
  const [cells] = seriesOf(charts[1]!);
  expect(cells!.data[0]![2]).toBeCloseTo(trip.nanoseconds!.mean / 2, -2);
});

test('of repeats the middle one is drawn', () => {
  const rows = [1024, 2048].flatMap((bytes) =>
    [7, 5, 6].map((us, repeat) => ({ ...made.row({ column: 'a', bytes, us }), repeat })),
  );
  const [line] = linesIn(chart([made.run('write', rows)], 'latency'));
  expect(line!.data).toHaveLength(2);
  expect(line!.data[0]![1]).toBeGreaterThan(5500);
  expect(line!.data[0]![1]).toBeLessThan(6500);
});
