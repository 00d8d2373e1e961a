import { expect, test } from 'vitest';
import { readFigures } from '../../src/reference/csv.js';
import { p5Shares } from '../../src/reference/p5-shares.js';

const M = 2 ** 20;

test('an all-to-all share counts what goes to seven peers', () => {
  expect(p5Shares('all2all', 'SingleDMA')).toEqual({
    metric: 'linePercent',
    points: [
      [4 * M, expect.closeTo(87.7, 1)],
      [32 * M, expect.closeTo(83.8, 1)],
    ],
  });
  expect(p5Shares('all2all', 'MultiDMA')!.points[1]![1]).toBeCloseTo(84.9, 1);
});

test('round-robin is held against its bound: two of seven blocks on the busiest NIC', () => {
  const shares = p5Shares('all2all', 'RoundRobinDMA')!;
  expect(shares.metric).toBe('ofBoundPercent');
  expect(shares.points[1]![1]).toBeCloseTo(84.4, 1);
});

test('write and sendrecv have the published BusBW, without the size that dips below its neighbours', () => {
  const single = p5Shares('write', 'SinglePin')!;
  expect(single.metric).toBe('busbwPercent');
  expect(single.points[0]).toEqual([256 * 1024, expect.closeTo(31.5, 1)]);
  expect(p5Shares('write', 'MultiDMA')!.points.at(-1)![1]).toBeCloseTo(95, 1);
  const sizes = p5Shares('sendrecv', 'SingleDMA')!.points.map(([bytes]) => bytes);
  expect(sizes).toContain(M);
  expect(sizes).not.toContain(2 * M);
  expect(p5Shares('write', 'MultiPin')).toBeUndefined();
});

test('a table without a column that is needed, or with a word for a number, is refused', () => {
  expect(() => readFigures('benchmark,nodes\n', 'x.csv')).toThrow('x.csv has no column config');
  const head = 'benchmark,nodes,config,size_bytes,lat_us';
  expect(() => readFigures(`${head}\nwrite,2,SinglePin,1M,fast`, 'x.csv')).toThrow(
    'x.csv, line 2: lat_us "fast" is not a number above 0',
  );
});
