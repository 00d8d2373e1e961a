import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { chartsOf } from '../../src/report/charts.js';
import { hydrate, texts, themes } from '../../src/report/hydrate.js';
import { renderSvg } from '../../src/report/svg.js';
import { decadeTicks, doublingTicks } from '../../src/report/ticks.js';
import * as made from './fixtures.js';
import * as gpu from './gpu-fixtures.js';

/** python3 comes with set-up; its parser is strict. */
const parseXml = (text: string): void => {
  execFileSync('python3', ['-c', 'import sys, xml.dom.minidom as m; m.parse(sys.stdin.buffer)'], {
    input: text,
  });
};

describe('SVG', () => {
  test.each([
    ['write', [made.referenceRun('write')]],
    ['ipc', [gpu.ipcRun()]],
    ['pairs', [made.pairsRun(8, ['rail0'])]],
    ['buffers', made.bufferRuns()],
    ['proxy', [gpu.proxyRun()]],
  ] as const)('of %s is well-formed and holds what it shows as text', (_, runs) => {
    const charts = chartsOf(runs);
    const svg = renderSvg(charts);
    parseXml(svg);
    for (const { title } of charts) expect(svg).toContain(title.replaceAll('&', '&amp;'));
    expect(svg).not.toContain('NaN');
    expect(svg).not.toContain('@series');
  });

  test('has sizes and rates on its axes', () => {
    const [bandwidth] = chartsOf([made.referenceRun('write')]);
    const svg = renderSvg([bandwidth!]);
    for (const text of ['256K', '1G', '400 Gbps', '>size<']) expect(svg).toContain(text);
  });

  test('shows a whole legend, however long', () => {
    const names = Array.from({ length: 12 }, (_, i) => `A strategy with a long name ${i}`);
    const rows = names.flatMap((column) =>
      [1024, 2048].map((bytes) => made.row({ column, bytes, us: 5 })),
    );
    const svg = renderSvg(chartsOf([made.run('write', rows)]).slice(0, 1));
    for (const name of names) expect(svg).toContain(name);
  });

  test('is the same for the same runs, in any order of drawing', () => {
    const draw = () => renderSvg(chartsOf([made.referenceRun('write')]));
    const first = draw();
    renderSvg(chartsOf([gpu.ipcRun()]));
    expect(draw()).toBe(first);
  });

  test('comes in light and dark', () => {
    const charts = chartsOf([made.referenceRun('write')]).slice(0, 1);
    expect(renderSvg(charts)).toContain(themes.light.series[0]!);
    expect(renderSvg(charts, { theme: 'dark' })).toContain(themes.dark.series[0]!);
  });

  test('takes names from files as text', () => {
    const column = '<script>alert(1)</script>"\u0007&\ud800';
    const rows = [1024, 2048].flatMap((bytes) => [
      made.row({ column, bytes, us: 5 }),
      made.row({ column: 'b', bytes, us: 6 }),
    ]);
    const svg = renderSvg(chartsOf([made.run('x<y>&"', rows)]));
    parseXml(svg);
    expect(svg).not.toContain('<script');
  });
});

/** Relative luminance and contrast as WCAG defines them. */
function contrast(a: string, b: string): number {
  const luminance = (color: string) => {
    const [r, g, blue] = [1, 3, 5].map((at) => {
      const share = Number.parseInt(color.slice(at, at + 2), 16) / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r! + 0.7152 * g! + 0.0722 * blue!;
  };
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high! + 0.05) / (low! + 0.05);
}

describe.each(['light', 'dark'] as const)('the %s theme', (name) => {
  const theme = themes[name];
  test('has text at 4.5:1 and marks at 3:1 against its paper', () => {
    for (const color of [theme.text, theme.muted, theme.warn]) {
      expect(contrast(color, theme.paper), color).toBeGreaterThanOrEqual(4.5);
    }
    for (const color of theme.series) {
      expect(contrast(color, theme.paper), color).toBeGreaterThanOrEqual(3);
    }
  });
  test('orders heat by lightness', () => {
    const steps = theme.heat.map((color) => contrast(color, '#000000'));
    const sorted = steps.toSorted((a, b) => a - b);
    expect(steps).toEqual(name === 'dark' ? sorted : sorted.reverse());
  });
});

describe('texts', () => {
  test('sizes and times are written with their units', () => {
    expect([512, 65_536, 1_572_864, 2 ** 30].map(texts.bytes!)).toEqual([
      '512',
      '64K',
      '1.5M',
      '1G',
    ]);
    expect([12, 999.9, 999.96, 64_110, 2.5e6, 3e9].map(texts.ns!)).toEqual([
      '12 ns',
      '999.9 ns',
      '1 us',
      '64.11 us',
      '2.5 ms',
      '3 s',
    ]);
  });

  test('a name from a file that looks like ours stays a name', () => {
    const option = { series: [{ name: '@text', color: '@text' }], legend: { data: ['@gbps'] } };
    expect(hydrate(option, { theme: 'light' })).toEqual({
      series: [{ name: '@text', color: themes.light.text }],
      legend: { data: ['@gbps'] },
    });
  });

  test('ticks lie at powers of two, at most nine, and at the largest size', () => {
    const { min, max, values } = doublingTicks([1024, 2 ** 30]);
    expect([min, max]).toEqual([1024, 2 ** 30]);
    expect(values.length).toBeLessThanOrEqual(9);
    expect(values.at(-1)).toBe(2 ** 30);
    expect(values.every((value) => Number.isInteger(Math.log2(value)))).toBe(true);
  });

  test('ticks of times begin and end outside the values', () => {
    for (const values of [[64_110, 88e6], [5000, 5100], [3], [1, 1e9]]) {
      const ticks = decadeTicks(values);
      expect(ticks.min).toBeLessThanOrEqual(Math.min(...values) * 1.001);
      expect(ticks.max).toBeGreaterThanOrEqual(Math.max(...values) * 0.999);
      expect(ticks.values.length).toBeGreaterThan(1);
    }
  });

  test('a logarithmic axis leaves out what it cannot show', () => {
    expect(decadeTicks([0, 5000, 9000])).toEqual(decadeTicks([5000, 9000]));
    expect(decadeTicks([0, 0])).toEqual({
      min: 1,
      max: 10,
      values: expect.arrayContaining([1, 10]),
    });
  });
});
