import { seededRandom } from './seeded-random.js';
import { mean } from './summary.js';

/** One quantity in every block of both sides; undefined where a block does not have it. */
export interface Sides {
  readonly a: readonly (number | undefined)[];
  readonly b: readonly (number | undefined)[];
}

/** By how much B differs from A in one quantity. */
export interface Shift {
  readonly difference: number;
  /** Holds the true difference of every quantity at once, except in a share `level` of comparisons. */
  readonly interval: readonly [low: number, high: number];
  /** Probability, if nothing differed, that the largest of all differences were as large as this one. */
  readonly p: number;
  /** Standard deviation between blocks of a side. */
  readonly spread: number;
}

/** More orders than these are drawn at random. */
const mostExact = 20_000;
const drawn = 4_999;

/** A smaller spread of blocks is not believed: a few equal values would make any difference look certain. */
export const smallestSpread = 0.005;

/** The smallest `p` that so many blocks per side can give. */
export function smallestP(blocks: number): number {
  const orders = combinations(2 * blocks, blocks);
  return orders <= mostExact ? 2 / orders : 1 / (drawn + 1);
}

/**
 * Which of many quantities differ between two groups of blocks, and by how much. Blocks are put into every other order
 * as wholes and the largest statistic over all quantities counts (Westfall and Young), so quantities may depend on each
 * other in any way, noise may have any distribution, and the answer holds for all of them together. The width of the
 * intervals comes from the same orders of the deviations from each side's mean; an interval whose test does not exclude
 * 0 is widened to contain it. Values are logarithms, so differences are ratios.
 */
export function compareBlocks(rows: readonly Sides[], level: number): Shift[] {
  const [first] = rows;
  if (first === undefined) return [];
  const [blocksA, blocksB] = [first.a.length, first.b.length];
  // About zero, so that sums of squares lose no digits.
  const pooled = rows.map(({ a, b }) => quantityOf(centered([...a, ...b])));
  const residuals = rows.map(({ a, b }) => quantityOf([...centered(a), ...centered(b)]));
  const observed = pooled.map((values) => statistic(values, firstOf(blocksA)));
  const { orders, exact } = ordersOf(blocksA, blocksB);
  const reached = new Array<number>(rows.length).fill(0);
  const deviations = new Float64Array(orders.length);
  for (const [i, inA] of orders.entries()) {
    const largest = largestOf(pooled, inA);
    for (let row = 0; row < rows.length; row++)
      if (largest >= observed[row]! - 1e-9) reached[row]! += 1;
    deviations[i] = largestOf(residuals, inA);
  }
  const count = orders.length;
  // Half, because a few orders make steps as coarse as this: simulated intervals then hold what they promise.
  const critical = deviations.sort()[count - 1 - Math.floor((level * count) / 2)]!;
  return rows.map((sides, row) => {
    const p = exact ? reached[row]! / count : (reached[row]! + 1) / (count + 1);
    return shiftOf(sides, critical, p, p <= level);
  });
}

function largestOf(rows: readonly Quantity[], inA: readonly number[]): number {
  let largest = 0;
  for (const row of rows) largest = Math.max(largest, statistic(row, inA));
  return largest;
}

const known = (values: readonly (number | undefined)[]): number[] =>
  values.filter((value) => value !== undefined);

function shiftOf(sides: Sides, critical: number, p: number, proven: boolean): Shift {
  const [a, b] = [known(sides.a), known(sides.b)];
  const difference = mean(b) - mean(a);
  const squares = [a, b].flatMap((side) => side.map((value) => (value - mean(side)) ** 2));
  const total = squares.reduce((sum, one) => sum + one, 0);
  const spread = Math.sqrt(total / Math.max(1, squares.length - 2));
  const error = (spread + smallestSpread) * Math.sqrt(1 / a.length + 1 / b.length);
  const half = Math.max(critical * error, smallestSpread);
  const [low, high] = [difference - half, difference + half];
  const interval = proven ? [low, high] : [Math.min(low, 0), Math.max(high, 0)];
  return { difference, interval: interval as [number, number], p, spread };
}

function centered(values: readonly (number | undefined)[]): (number | undefined)[] {
  const middle = mean(known(values));
  return values.map((value) => (value === undefined ? undefined : value - middle));
}

/** The values of a quantity, 0 where a block has none, and what does not depend on the order of the blocks. */
interface Quantity {
  readonly values: Float64Array;
  readonly has: Uint8Array;
  readonly count: number;
  readonly sum: number;
  readonly squares: number;
}

function quantityOf(values: readonly (number | undefined)[]): Quantity {
  const found = known(values);
  return {
    values: Float64Array.from(values, (value) => value ?? 0),
    has: Uint8Array.from(values, (value) => (value === undefined ? 0 : 1)),
    count: found.length,
    sum: found.reduce((total, value) => total + value, 0),
    squares: found.reduce((total, value) => total + value * value, 0),
  };
}

/** Difference of the means over its standard error, with the floor above, without its sign. Called very often. */
function statistic({ values, has, count, sum, squares }: Quantity, inA: readonly number[]): number {
  let [countA, sumA] = [0, 0];
  for (let i = 0; i < inA.length; i++) {
    countA += has[inA[i]!]!;
    sumA += values[inA[i]!]!;
  }
  const [countB, sumB] = [count - countA, sum - sumA];
  if (countA < 2 || countB < 2) return 0;
  const within = squares - sumA ** 2 / countA - sumB ** 2 / countB;
  const spread = Math.sqrt(Math.max(0, within) / (count - 2)) + smallestSpread;
  return Math.abs(sumB / countB - sumA / countA) / (spread * Math.sqrt(1 / countA + 1 / countB));
}

const firstOf = (count: number): number[] => Array.from({ length: count }, (_, block) => block);

/** Which blocks are in A: every choice, or some at random. */
function ordersOf(a: number, b: number): { orders: number[][]; exact: boolean } {
  return combinations(a + b, a) <= mostExact
    ? { orders: everyChoice(a + b, a), exact: true }
    : { orders: randomChoices(a, b), exact: false };
}

function combinations(n: number, k: number): number {
  let ways = 1;
  for (let i = 1; i <= k; i++) ways = (ways * (n - k + i)) / i;
  return Math.round(ways);
}

function everyChoice(n: number, k: number): number[][] {
  const choices: number[][] = [];
  const choose = (from: number, chosen: number[]) => {
    if (chosen.length === k) choices.push(chosen);
    else for (let i = from; i <= n - k + chosen.length; i++) choose(i + 1, [...chosen, i]);
  };
  choose(0, []);
  return choices;
}

function randomChoices(a: number, b: number): number[][] {
  const random = seededRandom(a * 1000 + b);
  return Array.from({ length: drawn }, () => {
    const blocks = firstOf(a + b);
    for (let i = 0; i < a; i++) {
      const j = i + Math.floor(random() * (blocks.length - i));
      [blocks[i], blocks[j]] = [blocks[j]!, blocks[i]!];
    }
    return blocks.slice(0, a);
  });
}
