import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../src/measure/seeded-random.js';
import {
  coefficientOfVariation,
  confidenceInterval95,
  isNoisy,
  slowestPerIteration,
  summarize,
} from '../../src/measure/statistics.js';

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1);

describe('a summary', () => {
  test('of 1 … 100 has the nearest ranks as percentiles', () => {
    expect(summarize(upTo(100))).toMatchObject({ min: 1, p50: 50, p95: 95, p99: 99, max: 100 });
  });

  test('does not depend on the order of samples for its percentiles', () => {
    expect(summarize(upTo(100).reverse()).p95).toBe(95);
  });

  test('sorts as numbers', () => expect(summarize([9, 10, 100]).p50).toBe(10));

  test('has the standard deviation of the sample', () => {
    expect(summarize([2, 4, 4, 4, 5, 5, 7, 9]).stddev).toBeCloseTo(2.138, 3);
  });

  test('of one sample has no deviation and no interval', () => {
    expect(summarize([7])).toMatchObject({ mean: 7, p99: 7, stddev: null, ci95: null });
  });

  test('of batches is per iteration', () => {
    expect(summarize([100, 300], 10)).toMatchObject({ min: 10, mean: 20, max: 30 });
  });

  test('is ordered', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { minLength: 1 }), (samples) => {
        const { min, p50, p95, p99, max, mean } = summarize(samples);
        expect([min, p50, p95, p99, max]).toEqual([min, p50, p95, p99, max].sort((a, b) => a - b));
        expect(mean).toBeGreaterThanOrEqual(min);
        expect(mean).toBeLessThanOrEqual(max);
      }),
    );
  });

  test.each([[[]], [[-1]], [[Number.NaN]], [[Number.POSITIVE_INFINITY]]])(
    'of %j is refused',
    (bad) => {
      expect(() => summarize(bad)).toThrow(TypeError);
    },
  );
});

describe('the confidence interval', () => {
  test('of two samples is Student’s with one degree of freedom', () => {
    const [low, high] = confidenceInterval95([10, 12])!;
    expect(low).toBeCloseTo(11 - 12.706, 3);
    expect(high).toBeCloseTo(11 + 12.706, 3);
  });

  test('has no width when all samples agree', () => {
    expect(confidenceInterval95(new Array<number>(50).fill(5))).toEqual([5, 5]);
  });

  test('is wider for samples that come in runs than for the same samples mixed', () => {
    const inRuns = [...new Array<number>(100).fill(10), ...new Array<number>(100).fill(20)];
    const mixed = inRuns.map((_, i) => (i % 2 === 0 ? 10 : 20));
    const width = (samples: number[]) => {
      const [low, high] = confidenceInterval95(samples)!;
      return high - low;
    };
    expect(width(inRuns)).toBeGreaterThan(2 * width(mixed));
  });

  test('holds the true mean about 95 times in 100', () => {
    const random = seededRandom(1);
    let held = 0;
    for (let trial = 0; trial < 2000; trial++) {
      const [low, high] = confidenceInterval95(Array.from({ length: 60 }, random))!;
      if (low <= 0.5 && 0.5 <= high) held++;
    }
    expect(held / 2000).toBeGreaterThan(0.93);
    expect(held / 2000).toBeLessThan(0.97);
  });
});

describe('the coefficient of variation', () => {
  test('is the deviation over the mean', () => {
    expect(coefficientOfVariation(summarize([9, 11]))).toBeCloseTo(Math.SQRT2 / 10);
  });

  test('of one sample is unknown', () => {
    expect(coefficientOfVariation(summarize([9]))).toBeUndefined();
  });
});

describe('a row', () => {
  const steady = (count: number) => upTo(count).map((i) => 1000 + (i % 5) * 10);

  test('of steady samples is not noisy', () => expect(isNoisy(steady(100))).toBe(false));

  test('with one outlier among many is not noisy', () => {
    expect(isNoisy([...steady(200), 8000])).toBe(false);
  });

  test('whose middle half spreads widely is noisy', () => {
    expect(isNoisy(upTo(100).map((i) => 1000 + i * 10))).toBe(true);
  });

  test('whose mean is pulled away by outliers is noisy', () => {
    expect(isNoisy([...steady(100), 50_000])).toBe(true);
  });

  test('of three samples is judged by their range', () => {
    expect(isNoisy([1000, 1100, 1200])).toBe(false);
    expect(isNoisy([1000, 1010, 1300])).toBe(true);
  });

  test('of one sample is not judged', () => expect(isNoisy([1000])).toBe(false));
});

describe('samples of several ranks', () => {
  test('are those of the slowest rank in each iteration', () => {
    expect(slowestPerIteration([Float64Array.of(1, 5, 3), [2, 4, 9]])).toEqual([2, 5, 9]);
  });

  test('that differ in number are refused', () => {
    expect(() => slowestPerIteration([[1, 2], [1]])).toThrow('2 and 1 iterations');
  });

  test('of no rank are refused', () => expect(() => slowestPerIteration([])).toThrow(TypeError));
});
