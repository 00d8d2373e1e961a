import { describe, expect, test } from 'vitest';
import { chartsOf } from '../../src/report/charts.js';
import type { Run } from '../../src/results/schema.js';
import * as made from './fixtures.js';

const chart = (runs: readonly Run[], id: string) => {
  const found = chartsOf(runs).find((each) => each.id === id);
  if (found === undefined) throw new Error(`no chart ${id}`);
  const series = found.option.series as { name: string; data: readonly unknown[] }[];
  return { ...found, series };
};

const broken = (run: Run, which: (index: number) => boolean): Run => ({
  ...run,
  rows: run.rows.map((row, i) =>
    which(i) ? { ...row, outcome: 'failed' as const, reason: 'wrong bytes' } : row,
  ),
});

describe('a row that failed is no result', () => {
  test('among configurations', () => {
    const rows = ['a', 'b'].map((column) => made.row({ column, bytes: 1024, us: 5 }));
    const drawn = chart([broken(made.run('write', rows), (i) => i === 1)], 'configurations');
    expect(drawn.series[0]!.data.map((point) => point === null)).toEqual([false, true]);
    expect(drawn.caption).toContain('Failed rows not shown: 1.');
  });

  test('over the number of hosts', () => {
    const [first, ...rest] = made.nodeRuns();
    const drawn = chart([broken(first!, (i) => i === 0), ...rest], 'nodes');
    const single = drawn.series.find(({ name }) => name === 'SingleDMA')!;
    expect(single.data).toHaveLength(3);
    expect(drawn.caption).toContain('Failed rows not shown: 1.');
  });

  test('in a map of pairs, and on rails', () => {
    const run = broken(made.pairsRun(4, ['rail0']), (i) => i === 0);
    const map = chart([run], 'pairs');
    expect(map.series[0]!.data).toHaveLength(4 * 3 - 1);
    expect(map.series[1]!.data).toEqual([[1, 0]]);
    const all = { ...run, rows: run.rows.map((row) => ({ ...row, gbps: row.gbps && 10 })) };
    const [bad, ...good] = all.rows;
    const rails = chart([{ ...all, rows: [{ ...bad!, gbps: 1e6 }, ...good] }], 'rails');
    expect(rails.series[0]!.data[0]).toMatchObject([0, 10, 10, 10]);
  });

  test('in distributions and boxes', () => {
    const rows = ['a', 'b'].flatMap((column) =>
      [1024, 2048].map((bytes) => made.row({ column, bytes, us: 5 })),
    );
    const run = broken(made.run('write', rows), (i) => i >= 2);
    expect(chart([run], 'distribution').series.map(({ name }) => name)).toEqual(['a']);
    const boxes = chart([run], 'spread');
    expect(boxes.series.map(({ name }) => name)).toEqual(['a']);
    expect(boxes.caption).toContain('not shown: 2.');
  });
});

test('a map of very many pairs is drawn', () => {
  const [row] = made.pairsRun(2).rows;
  const ranks = 400;
  const rows = Array.from({ length: ranks * ranks }, (_, i) => ({
    ...row!,
    labels: { from: Math.floor(i / ranks), to: i % ranks },
  })).filter(({ labels: { from, to } }) => from !== to);
  expect(chart([made.run('pairs', rows)], 'pairs').series[0]!.data).toHaveLength(rows.length);
});

describe('lines over something that differs between runs', () => {
  const providers = (['tcp', 'shm'] as const).flatMap((provider) =>
    made.nodeRuns().map((run) => ({ ...run, fabric: { ...run.fabric, provider } })),
  );

  test('join only runs that are alike otherwise', () => {
    const { series } = chart(providers, 'nodes');
    expect(series.map(({ name }) => name)).toContain('SingleDMA · tcp');
    expect(series).toHaveLength(6);
    for (const { data } of series) {
      const hosts = data.map((point) => (point as number[])[0]);
      expect(hosts).toEqual([2, 4, 8, 16]);
    }
  });

  test('are none where every run is of another kind', () => {
    const runs = [providers[0]!, providers[5]!];
    expect(chartsOf(runs).map(({ id }) => id)).not.toContain('nodes');
  });
});

test('lines beyond the palette differ in symbol from those of their colour', () => {
  const rows = Array.from({ length: 12 }, (_, i) => `Column${i}`).flatMap((column) =>
    [1024, 2048].map((bytes) => made.row({ column, bytes, us: 5 })),
  );
  const { series } = chart([made.run('write', rows)], 'bandwidth');
  const lines = series as unknown as { symbol: string; itemStyle: { color: string } }[];
  const looks = lines.map(({ symbol, itemStyle }) => {
    const color = Number(itemStyle.color.replace('@series', '')) % 8;
    return `${symbol} ${color}`;
  });
  expect(new Set(looks).size).toBe(12);
});
