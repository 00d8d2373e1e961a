import { seededRandom } from './seeded-random.js';

/** One quantity in every block of both sides; undefined where a block does not have it. */
interface Sides {
  readonly a: readonly (number | undefined)[];
  readonly b: readonly (number | undefined)[];
}

/** More orders than these are drawn at random. */
const mostExact = 20_000;
const drawn = 4_999;

/** So small a spread of blocks is not believed: a few equal values would make any difference look certain. */
const smallestSpread = 0.005;

/**
 * Which of many quantities differ between two groups of blocks: for each the probability, under the assumption that
 * nothing differs, that the largest of all the differences is as large as this one. Blocks are put into every other
 * order as wholes, so quantities may depend on each other as they like, and the answer holds for all of them together
 * (Westfall and Young's maximum). Values are logarithms, so that differences are ratios.
 */
export function permutationTest(
  rows: readonly Sides[],
  blocksA: number,
  blocksB: number,
): number[] {
  // About zero, so that sums of squares lose no digits.
  const pooled = rows.map(({ a, b }) => centered([...a, ...b]));
  const observed = pooled.map((values) => Math.abs(statistic(values, identity(blocksA, blocksB))));
  const { orders, exact } = ordersOf(blocksA, blocksB);
  const reached = new Array<number>(rows.length).fill(0);
  let count = 0;
  for (const inA of orders) {
    count += 1;
    let largest = 0;
    for (const values of pooled) largest = Math.max(largest, Math.abs(statistic(values, inA)));
    for (const [row, value] of observed.entries()) {
      if (largest >= value - 1e-9) reached[row]! += 1;
    }
  }
  return reached.map((times) => (exact ? times / count : (times + 1) / (count + 1)));
}

function centered(values: readonly (number | undefined)[]): (number | undefined)[] {
  const known = values.filter((value) => value !== undefined);
  const middle = known.reduce((sum, value) => sum + value, 0) / known.length;
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

export function combinations(n: number, k: number): number {
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
