import { expect, test } from 'vitest';
import { looksOf } from '../../src/analysis/compare/looks.js';
import { compareBlocks, smallestP } from '../../src/measure/permutation.js';
import { seededRandom } from '../../src/measure/seeded-random.js';
import { bell } from './moody-runs.js';

test.each([5, 6, 7, 10, 20, 50])('of %i rounds the looks share the error rate', (rounds) => {
  const looks = looksOf(rounds);
  expect(looks.at(-1)!.rounds).toBe(rounds);
  expect(looks.reduce((sum, { errorRate }) => sum + errorRate, 0)).toBeCloseTo(0.01, 10);
  for (const look of looks) expect(smallestP(look.rounds)).toBeLessThanOrEqual(look.errorRate);
});

test('there is a look before the last', () => {
  expect(looksOf(10).map((look) => look.rounds)).toEqual([6, 8, 10]);
  expect(looksOf(5)).toEqual([{ rounds: 5, errorRate: 0.01 }]);
});

/** So often or less, as far as so many trials can tell: three standard deviations above. */
const rarely = (share: number, trials: number) =>
  share + 3 * Math.sqrt((share * (1 - share)) / trials);

/** Runs that are fast or three times slower by the luck of their connection. */
const lucky = (random: () => number) => 0.02 * bell(random) + (random() < 0.4 ? 1.1 : 0);
const steady = (random: () => number) => 0.02 * bell(random);

test.each([
  { name: 'bell-shaped', noise: steady },
  { name: 'two-humped', noise: lucky },
])('equal sides with $name noise are accused at any look in at most 1 of 100', ({ noise }) => {
  const random = seededRandom(11);
  const looks = looksOf(7);
  const trials = 400;
  let accused = 0;
  for (let trial = 0; trial < trials; trial++) {
    const side = () => Array.from({ length: 7 }, () => noise(random));
    const rows = [0, 1, 2].map(() => ({ a: side(), b: side() }));
    const wrong = looks.some(({ rounds, errorRate }) => {
      const seen = rows.map(({ a, b }) => ({ a: a.slice(0, rounds), b: b.slice(0, rounds) }));
      return compareBlocks(seen, errorRate).some(
        ({ interval: [low, high] }) => low > 0 || high < 0,
      );
    });
    if (wrong) accused += 1;
  }
  expect(accused / trials).toBeLessThanOrEqual(rarely(0.01, trials));
});

test('intervals hold the true difference of every row, except in 1 of 100', () => {
  const random = seededRandom(7);
  let missed = 0;
  for (let trial = 0; trial < 300; trial++) {
    const rows = [0, 0.1, 0.7].map((shift) => ({
      a: Array.from({ length: 5 }, () => steady(random)),
      b: Array.from({ length: 5 }, () => shift + steady(random)),
    }));
    const found = compareBlocks(rows, 0.01);
    const out = found.some(({ interval: [low, high] }, i) => {
      const shift = [0, 0.1, 0.7][i]!;
      return low > shift || high < shift;
    });
    if (out) missed += 1;
  }
  expect(missed / 300).toBeLessThanOrEqual(rarely(0.01, 300));
});
