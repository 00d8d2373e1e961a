import { expect, test } from 'vitest';
import { chartsOf } from '../../src/report/charts.js';
import { renderReport } from '../../src/report/html.js';
import { largeRun, slowPair } from '../results/large-run.js';

const run = largeRun(360);

test('a large matrix is drawn in blocks, each with its slowest pair', () => {
  const [chart] = chartsOf([run]).filter(({ kind }) => kind === 'pairs');
  expect(chart!.title).toMatch(/^Bandwidth of the slowest pair of each 3 × 3 ranks/);
  expect(chart!.caption).toMatch(/^There are too many ranks for one cell per pair: /);
  const [{ data }] = chart!.option.series as { data: number[][] }[] as [{ data: number[][] }];
  expect(data).toHaveLength(120 * 120);
  const [x, y] = [Math.floor(slowPair.to / 3), Math.floor(slowPair.from / 3)];
  const lowest = data.reduce((a, b) => (b[2]! < a[2]! ? b : a));
  expect(lowest).toEqual([x, y, 26.667]);
});

test('a report of a large matrix lists its slowest pairs and says so', () => {
  const html = renderReport([run]);
  expect(html).toContain(
    'The slowest pairs of each matrix (of 129240 rows; the run file has them all)',
  );
  expect(html.match(/<tr>|<tr /g)!.length).toBeLessThan(200);
  expect(html.length).toBeLessThan(4_000_000);
});
