import { describe, expect, test } from 'vitest';
import { barText, sparkline } from '../../src/results/formats/bars.js';
import { formatTable } from '../../src/results/formats/table.js';
import { runOf, sampleRow, writeRun } from './fixtures.js';

describe('a bar', () => {
  test.each([
    [0, '    '],
    [0.5, '██  '],
    [0.53125, '██▏ '],
    [1, '████'],
    [7, '████'],
  ])('of %d is %j', (share, text) => {
    expect(barText(share, 4, true)).toBe(text);
  });

  test('of next to nothing still shows', () => {
    expect(barText(1e-9, 4, true)).toBe('▏   ');
  });

  test('is ASCII where that is all there is', () => {
    expect(barText(0.5, 4, false)).toBe('##  ');
  });
});

describe('a sparkline', () => {
  test('goes from nothing to the largest value', () => {
    expect(sparkline([0, 1, 2, 3, 4, 5, 6, 7, 8], true)).toBe('▁▂▃▄▅▆▇██');
  });

  test('leaves a gap where there is no value', () => {
    expect(sparkline([8, null, 8], true)).toBe('█ █');
  });

  test('is ASCII where that is all there is', () => {
    expect(sparkline([1, 4, 8], false)).toMatch(/^[!-~]{3}$/);
  });
});

describe('a table with bars', () => {
  const wide = () => formatTable(writeRun(), { width: 160, bars: true });

  test('has one per number, on one scale', () => {
    const lines = wide().split('\n');
    expect(lines.find((line) => line.startsWith('Size'))).toMatch(/(of 252\.64.*){3}/);
    expect(lines.find((line) => line.startsWith('  4M'))).toMatch(/398\.44 {2}████████$/);
    expect(lines.find((line) => line.startsWith('256K'))).toMatch(/66\.54 {2}█ +│/);
  });

  test.each([80, 120, 200])('fits %i columns, with as many tables as without', (width) => {
    const text = formatTable(writeRun(), { width, bars: true });
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(width);
    const tables = (of: string) => of.match(/Size +Count/g)?.length;
    expect(tables(text)).toBe(tables(formatTable(writeRun(), { width })));
  });

  test('has sparklines beside the titles where bars do not fit', () => {
    const text = formatTable(writeRun(), { width: 100, bars: true });
    expect(text).toMatch(/SinglePin ▃█ .*MultiPin ▂█ .*RoundRobinPin ▃█/);
    expect(text).not.toContain('of 252.64');
  });

  test('is plain ASCII without Unicode', () => {
    for (const width of [100, 160]) {
      const text = formatTable(writeRun(), { width, bars: true, unicode: false });
      expect(text).toMatch(/^[ -~\n]+$/);
    }
  });

  test('draws nothing where nothing was measured', () => {
    const row = { ...sampleRow({ column: 'A', bytes: 64, us: 5 }), gbps: null };
    const run = runOf([row]);
    expect(formatTable(run, { bars: true })).toBe(formatTable(run));
  });
});
