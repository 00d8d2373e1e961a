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
  const pooled = rows.map(({ a, b }) => centered([...a, ...b]));
  const residuals = rows.map(({ a, b }) => [...centered(a), ...centered(b)]);
  const asMeasured = identity(blocksA, blocksB);
  const observed = pooled.map((values) => Math.abs(statistic(values, asMeasured)));
  const { orders, exact } = ordersOf(blocksA, blocksB);
  const reached = new Array<number>(rows.length).fill(0);
  const largestDeviations: number[] = [];
  for (const inA of orders) {
    const largest = largestOf(pooled, inA);
    for (const [row, value] of observed.entries()) if (largest >= value - 1e-9) reached[row]! += 1;
    largestDeviations.push(largestOf(residuals, inA));
  }
  const count = largestDeviations.length;
  largestDeviations.sort((one, other) => other - one);
  const critical = largestDeviations[Math.floor(level * count)]!;
  return rows.map((sides, row) => {
    const p = exact ? reached[row]! / count : (reached[row]! + 1) / (count + 1);
    return shiftOf(sides, critical, p, p <= level);
  });
}

function largestOf(rows: readonly (readonly (number | undefined)[])[], inA: readonly boolean[]) {
  let largest = 0;
  for (const values of rows) largest = Math.max(largest, Math.abs(statistic(values, inA)));
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
  const half = critical * (spread + smallestSpread) * Math.sqrt(1 / a.length + 1 / b.length);
  const [low, high] = [difference - half, difference + half];
  const interval = proven ? [low, high] : [Math.min(low, 0), Math.max(high, 0)];
  return { difference, interval: interval as [number, number], p, spread };
}

function centered(values: readonly (number | undefined)[]): (number | undefined)[] {
  const middle = mean(known(values));
  return values.map((value) => (value === undefined ? undefined : value - middle));
}

const identity = (a: number, b: number): boolean[] =>
  Array.from({ length: a + b }, (_, block) => block < a);

/** Difference of the means over its standard error, with the floor above. Called very often: sums, no lists. */
function statistic(values: readonly (number | undefined)[], inA: readonly boolean[]): number {
  let [countA, sumA, countB, sumB, squares] = [0, 0, 0, 0, 0];
  for (let block = 0; block < values.length; block++) {
    const value = values[block];
    if (value === undefined) continue;
    squares += value * value;
    if (inA[block]) {
      countA += 1;
      sumA += value;
    } else {
      countB += 1;
      sumB += value;
    }
  }
  if (countA < 2 || countB < 2) return 0;
  const within = squares - sumA ** 2 / countA - sumB ** 2 / countB;
  const spread = Math.sqrt(Math.max(0, within) / (countA + countB - 2)) + smallestSpread;
  return (sumB / countB - sumA / countA) / (spread * Math.sqrt(1 / countA + 1 / countB));
}

function ordersOf(a: number, b: number): { orders: Iterable<boolean[]>; exact: boolean } {
  return combinations(a + b, a) <= mostExact
    ? { orders: everyOrder(a + b, a), exact: true }
    : { orders: randomOrders(a, b), exact: false };
}

function combinations(n: number, k: number): number {
  let ways = 1;
  for (let i = 1; i <= k; i++) ways = (ways * (n - k + i)) / i;
  return Math.round(ways);
}

function* everyOrder(n: number, k: number, prefix: boolean[] = []): Iterable<boolean[]> {
  if (prefix.length === n) {
    yield prefix;
    return;
  }
  const left = n - prefix.length;
  if (k > 0) yield* everyOrder(n, k - 1, [...prefix, true]);
  if (left > k) yield* everyOrder(n, k, [...prefix, false]);
}

function* randomOrders(a: number, b: number): Iterable<boolean[]> {
  const random = seededRandom(a * 1000 + b);
  for (let draw = 0; draw < drawn; draw++) {
    const order = identity(a, b);
    for (let i = order.length - 1; i > 0; i--) {
      const j = Math.floor(random() * (i + 1));
      [order[i], order[j]] = [order[j]!, order[i]!];
    }
    yield order;
  }
}
