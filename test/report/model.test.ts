import { describe, expect, test } from 'vitest';
import { normalOf } from '../../src/analysis/normal/normal.js';
import { benchmarkById, benchmarks } from '../../src/benchmarks/index.js';
import { p5Fabric } from '../../src/reference/p5-fabric.js';
import { chartsOf } from '../../src/report/charts.js';
import { renderReport } from '../../src/report/html.js';
import { flagOfKey, settingsOf } from '../../src/report/settings.js';
import type { Run } from '../../src/results/schema.js';
import { predictLike } from '../../src/runner/predict/predict-like.js';
import { flagOf } from '../../src/settings/option.js';
import { M, p5Run, writeRow } from '../analysis/normal/runs.js';

const run = p5Run([writeRow(400, 16 * M), writeRow(1464.32)]);
const expected = predictLike(run, p5Fabric, benchmarkById) as { run: Run };
const models = new Map([[run.id, expected.run]]);

interface Series {
  name: string;
  symbol: string;
  showSymbol: boolean;
  lineStyle: { type?: unknown };
  areaStyle?: object;
}

describe('a model beside a measured run', () => {
  const [bandwidth] = chartsOf([run], models);
  const series = (bandwidth!.option as { series: Series[] }).series;

  test('is a dashed line without marks, named as predicted, with the only band', () => {
    const [measured, model, ...bands] = series;
    expect(measured).toMatchObject({ name: 'MultiDMA', showSymbol: true });
    expect(measured!.lineStyle.type).toBe('solid');
    expect(model).toMatchObject({
      name: 'MultiDMA · model p5, predicted',
      symbol: 'none',
      showSymbol: false,
    });
    expect(model!.lineStyle.type).not.toBe('solid');
    expect(new Set(bands.map(({ name }) => name))).toEqual(new Set([model!.name]));
    expect(bands.filter(({ areaStyle }) => areaStyle)).toHaveLength(1);
  });

  test('is named in the title and the caption', () => {
    expect(bandwidth!.title).toContain('beside the model p5 (predicted)');
    expect(bandwidth!.caption).toContain('predicted by the model, not measured');
    expect(chartsOf([run])[0]!.title).not.toContain('model');
  });

  test('of the same world is drawn once for several runs', () => {
    const again = { ...run, id: 'again' };
    const both = new Map([...models, ['again', expected.run] as const]);
    const [chart] = chartsOf([run, again], both);
    const { series: drawn } = chart!.option as { series: Series[] };
    const lines = drawn.filter(({ name, areaStyle }) => name.includes('model') && !areaStyle);
    expect(new Set(lines.map(({ name }) => name)).size).toBe(1);
  });
});

test('a report says what is normal', () => {
  const normal = normalOf([run], () => expected);
  const page = renderReport([run], { normal, models });
  expect(page).toContain('What is normal?');
  expect(page).toContain('Model p5, predicted');
  expect(page).toContain('Published: Libefaxx');
  expect(page).not.toContain('PREDICTED, not measured');
});

test('a page of predictions says so in its title, its header and every chart', () => {
  const page = renderReport([expected.run]);
  expect(page).toMatch(/<title>[^<]*PREDICTED, not measured/);
  expect(page).toMatch(/<header.*PREDICTED, not measured.*<\/header>/);
  expect(page).toMatch(/<h1>PREDICTED, not measured/);
  const titles = [...page.matchAll(/<h3>([^<]*)<\/h3>/g)].map(([, title]) => title);
  expect(titles.length).toBeGreaterThan(2);
  for (const title of titles) expect(title).toContain('PREDICTED');
  expect(page).toContain('How it was predicted');
  expect(page).not.toContain('How it was measured');
  expect(page).toContain('duplexEfficiency');
});

test('a benchmark’s own options are shown as a user types them', () => {
  const own = { tokens: [128, 4096], topK: 8, loadBytes: 65_536, overlap: false, coalesce: true };
  const facts = settingsOf({ ...run, settings: { own, nodes: 4 } });
  expect(facts).toEqual([
    ['--tokens', '128,4096'],
    ['--top-k', '8'],
    ['--load-bytes', '64K'],
    ['--coalesce', 'on'],
    ['Nodes', '4'],
  ]);
});

test('options of benchmarks have the flag that reports show', () => {
  const all = benchmarks.flatMap(({ options = {} }) => Object.entries(options));
  expect(all.map(([key]) => flagOfKey(key))).toEqual(all.map(([, option]) => flagOf(option)));
});
