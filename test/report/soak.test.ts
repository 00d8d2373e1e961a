import { expect, test } from 'vitest';
import { answerOf } from '../../src/report/answer.js';
import { chartsOf } from '../../src/report/charts.js';
import { renderSvg } from '../../src/report/svg.js';
import { mergeRepeats } from '../../src/results/repeats.js';
import { flappingRun } from '../results/soak-fixtures.js';
import { chart, type Series, seriesOf } from './drawn.js';

test('a soak is drawn over its time, with its stalls and the links that went down', () => {
  const drawn = chart([mergeRepeats(flappingRun())], 'soak');
  const series = seriesOf(drawn);
  expect(series.map(({ name }: Series) => name)).toEqual(['p50', 'p99', 'p99.9', 'max', 'stall']);
  const [p50, , , , stall] = series as [Series, Series, Series, Series, Series];
  expect(p50.data.map(([x]) => x)).toEqual([30, 90, 150, 210, 270, 330]);
  expect(stall.data.map(([x, y]) => [x, y])).toEqual([90, 180, 270].map((x) => [x, 2.3e9]));
  expect(JSON.stringify(drawn.option)).toContain('nic0 on h2 down');
  expect(drawn.summary).toMatch(/6 intervals; 3 stalls, the longest 2.3 s; 3 link failures/);
  expect(renderSvg([drawn], { theme: 'light', widthPx: 960 })).toContain('<svg');
});

test('a report leads with what the soak found, and lists it', () => {
  const { headline, points } = answerOf([mergeRepeats(flappingRun())]);
  expect(headline).toBe('3 stalls, the longest 2.3 s; 3 link failures in 6 intervals.');
  expect(points[0]).toMatchObject({ kind: 'bad', text: expect.stringContaining('nic0 on h2') });
});

test('a run that is no soak has no chart over time', () => {
  const plain = flappingRun();
  const rows = plain.rows.map(({ soak: _, ...row }) => row);
  expect(chartsOf([{ ...plain, rows }]).some(({ kind }) => kind === 'soak')).toBe(false);
});
