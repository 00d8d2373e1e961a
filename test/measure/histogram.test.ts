import { expect, test } from 'vitest';
import { Histogram } from '../../src/measure/histogram.js';
import { percentilesOf } from '../../src/measure/quantile.js';
import { seededRandom } from '../../src/measure/seeded-random.js';

const random = seededRandom(7);
/** Durations over five decades. */
const values = Array.from({ length: 20_000 }, () => 10 ** (3 + 5 * random()));

function filled(all: readonly number[]): Histogram {
  const histogram = new Histogram();
  for (const value of all) histogram.add(value);
  return histogram;
}

test('percentiles are within 1 % of those of all samples', () => {
  const percents = [0.1, 1, 50, 95, 99, 99.9, 100];
  const exact = percentilesOf(values, percents);
  for (const [i, value] of filled(values).percentiles(percents).entries()) {
    expect(Math.abs(value / exact[i]! - 1)).toBeLessThan(0.01);
  }
});

test('smallest, largest and mean are exact', () => {
  const histogram = filled([5, 1000, 3]);
  expect(histogram).toMatchObject({ min: 3, max: 1000, count: 3 });
  expect(histogram.mean).toBe(336);
});

test('one sample is every percentile', () => {
  expect(filled([123_456]).percentiles([0, 50, 99.9, 100])).toEqual(Array(4).fill(123_456));
});

test('a few samples that are spread as all are: smallest and largest among them', () => {
  const few = filled(values).spread(33);
  expect(few).toHaveLength(33);
  expect(few[0]).toBe(Math.min(...values));
  expect(few.at(-1)).toBe(Math.max(...values));
  expect([...few].sort((a, b) => a - b)).toEqual(few);
  expect(filled([7, 9]).spread(33)).toEqual([7, 9]);
  expect(new Histogram().spread(33)).toEqual([]);
});

test('without samples there is no percentile', () => {
  expect(() => new Histogram().percentiles([50])).toThrow(TypeError);
});
