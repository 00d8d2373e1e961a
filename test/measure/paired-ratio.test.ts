import { expect, test } from 'vitest';
import { pairedRatio } from '../../src/measure/paired-ratio.js';

const counted = (count: number) => Array.from({ length: count }, (_, i) => i + 1);

test('rounds are compared one by one: what slows a whole round leaves the ratio', () => {
  const slowness = [1, 9, 2, 30, 1, 4, 1];
  const [a, b] = [slowness.map((times) => 5 * times), slowness.map((times) => 10 * times)];
  expect(pairedRatio(a, b)).toEqual({ ratio: 0.5, interval: [0.5, 0.5] });
});

test.each([
  // Which order statistics hold the median with 95 %, as tables of the sign test have it.
  [5, 1, 5],
  [6, 1, 6],
  [9, 2, 8],
  [15, 4, 12],
  [25, 8, 18],
])('of %d rounds the interval is from value %d to value %d', (rounds, low, high) => {
  const ones = counted(rounds).fill(1);
  expect(pairedRatio(counted(rounds), ones).interval).toEqual([low, high]);
});
