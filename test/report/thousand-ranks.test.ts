import { describe, expect, test } from 'vitest';
import { SlowestPairs } from '../../src/live/slowest-pairs.js';
import { chartsOf } from '../../src/report/charts.js';
import { renderReport } from '../../src/report/html.js';
import { renderSvg } from '../../src/report/svg.js';
import { formatRun, runPieces } from '../../src/results/formats/format-run.js';
import { mostRanksInFull } from '../../src/results/large-matrix.js';
import { largeRun, slowPair, slowRank } from '../results/large-run.js';

/** A million cells: more than texts, calls and stacks hold. */
const run = largeRun(1024);
const pairs = 1024 * 1023;
/** At most as many as a matrix in full. */
const mostCells = mostRanksInFull ** 2;
const slowestGbps = 26.667;

/** The cells of the heat map: column, row, Gbps. */
const cellsOf = (charts: ReturnType<typeof chartsOf>): number[][] => {
  const [chart] = charts.filter(({ kind }) => kind === 'pairs');
  return (chart!.option.series as { data: number[][] }[])[0]!.data;
};
const slowest = (cells: number[][]) => cells.reduce((a, b) => (b[2]! < a[2]! ? b : a));
/** Blocks of 8 × 8 ranks. */
const slowBlock = [Math.floor(slowPair.to / 8), Math.floor(slowPair.from / 8), slowestGbps];

describe('of 1,024 ranks', () => {
  test('a table lists the slowest, not the matrix', () => {
    const text = formatRun(run, 'table');
    expect(text).toMatch(/1024 × 1024 ranks, slowest 10 relative to the best/);
    expect(text).toMatch(new RegExp(`\\bh${slowRank} .*56 %`));
    expect(text).toMatch(new RegExp(`\\bh${slowPair.from} .*33 %`));
    expect(text.length).toBeLessThan(2000);
  });

  test.each(['csv', 'json'] as const)('%s begins at once', (format) => {
    let length = 0;
    for (const piece of runPieces(run, format)) {
      length += piece.length;
      if (length > 2 ** 20) break;
    }
    expect(length).toBeLessThan(2 ** 22);
  });

  test('a report lists the slowest pairs and stays small', () => {
    const html = renderReport([run]);
    expect(html).toContain(`The slowest pairs of each matrix (of ${pairs} rows;`);
    expect(html).toContain(`rank ${slowPair.from} to rank ${slowPair.to}`);
    expect(html.match(/<tr>|<tr /g)!.length).toBeLessThan(200);
    expect(html.length).toBeLessThan(4_000_000);
  });

  test('a picture has a cell for each block of ranks', () => {
    const charts = chartsOf([run]);
    const cells = cellsOf(charts);
    expect(cells).toHaveLength(mostCells);
    expect(slowest(cells)).toEqual(slowBlock);
    expect(renderSvg(charts).length).toBeLessThan(8_000_000);
  });

  test('a live page draws the same from a row of each block', () => {
    const chosen = new SlowestPairs(run.world);
    for (const [line, row] of run.rows.entries()) chosen.take(line, row);
    const lines = chosen.after(0, pairs);
    expect(lines).toHaveLength(mostCells);
    const few = { ...run, rows: lines.map((line) => run.rows[line]!) };
    expect(slowest(cellsOf(chartsOf([few])))).toEqual(slowBlock);
  });
});
