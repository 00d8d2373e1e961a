import { median } from '../../measure/quantile.js';
import { seededRandom } from '../../measure/seeded-random.js';
import { type Cell, pairKey } from './cells.js';

/** The 25 % point of the absolute value of a standard normal. */
const quarterOfNormal = 0.3186;
const quadsDrawn = 4000;

/** The spread of deviations around 0: their median size, as a standard deviation. */
export const spreadOf = (deviations: readonly number[]): number =>
  1.4826 * median(deviations.map(Math.abs));

/**
 * How much cells differ for no reason. In y(a,b) − y(a,c) − y(d,b) + y(d,c) whatever ranks a and d do to all they
 * send, and b and c to all they receive, cancels out: what is left is noise of twice the spread of one cell. The
 * lower quarter is taken, since two bad hosts spoil more than half of these sums in a world of four.
 */
export function noiseOf(cells: readonly Cell[], least: number): number {
  const rails = new Set(cells.map((cell) => cell.rail));
  const sums = [...rails].flatMap((rail) => tetrads(cells.filter((cell) => cell.rail === rail)));
  if (sums.length === 0) return 2 * least;
  const sizes = sums.map(Math.abs).sort((a, b) => a - b);
  return Math.max(least, sizes[Math.floor((sizes.length - 1) / 4)]! / quarterOfNormal / 2);
}

function tetrads(cells: readonly Cell[]): number[] {
  const value = new Map(cells.map((cell) => [pairKey(cell.from, cell.to), cell.value]));
  const ranks = [...new Set(cells.flatMap(({ from, to }) => [from, to]))].sort((a, b) => a - b);
  const quads = ranks.length <= 9 ? allQuads(ranks) : someQuads(ranks);
  return quads.flatMap(([a, d, b, c]) => {
    const at = (row: number, column: number) => value.get(pairKey(row, column)) ?? Number.NaN;
    const sum = at(a, b) - at(a, c) - at(d, b) + at(d, c);
    return Number.isNaN(sum) ? [] : [sum];
  });
}

type Quad = readonly [a: number, d: number, b: number, c: number];

function allQuads(ranks: readonly number[]): Quad[] {
  const pairs = ranks.flatMap((x, i) => ranks.slice(i + 1).map((y) => [x, y] as const));
  return pairs.flatMap(([a, d]) =>
    pairs
      .filter((columns) => !columns.includes(a) && !columns.includes(d))
      .map(([b, c]): Quad => [a, d, b, c]),
  );
}

/** Drawn the same way every time: the same matrix has the same noise. */
function someQuads(ranks: readonly number[]): Quad[] {
  const next = seededRandom(1);
  const draw = () => ranks[Math.floor(next() * ranks.length)]!;
  const quads = Array.from({ length: quadsDrawn }, (): Quad => [draw(), draw(), draw(), draw()]);
  return quads.filter((quad) => new Set(quad).size === 4);
}
