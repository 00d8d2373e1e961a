import { describe, expect, test } from 'vitest';
import {
  changePoints,
  fewestValues,
  persistence,
} from '../../../src/analysis/history/change-points.js';
import { seededRandom } from '../../../src/measure/seeded-random.js';

/** Noise of several kinds, in logarithms of times. */
type Noise = (random: () => number) => () => number;

const gauss = (random: () => number): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

const noises: Record<string, Noise> = {
  'a steady machine': (random) => () => 0.01 * gauss(random),
  'a noisy machine': (random) => () => 0.3 * gauss(random),
  'outliers of 3 times the time': (random) => () =>
    0.02 * gauss(random) + (random() < 0.1 ? Math.log(3) : 0),
  'two moods by chance': (random) => () => 0.01 * gauss(random) + (random() < 0.4 ? 0.5 : 0),
  'a skewed machine': (random) => () => -0.1 * Math.log(1 - random()),
  'values with few digits': (random) => () => Math.round(3 * gauss(random)) / 100,
  'a machine that drifts': (random) => {
    let state = 0;
    return () => {
      state = 0.4 * state + 0.05 * gauss(random);
      return state;
    };
  },
};

function series(length: number, noise: Noise, seed: number): number[] {
  const next = noise(seededRandom(seed));
  return Array.from({ length }, () => 10 + next());
}

describe('steady noise', () => {
  test.each(Object.entries(noises))('of %s hardly ever looks like a change', (_, noise) => {
    const tries = 300;
    const alarms = [20, 100].map(
      (length) =>
        Array.from({ length: tries }, (_, seed) =>
          changePoints(series(length, noise, seed + 1), 0),
        ).filter((found) => found.length > 0).length,
    );
    // Drifting is no steady noise: there a few more are tolerated.
    const most = noise === noises['a machine that drifts'] ? 0.05 : 0.02;
    expect(Math.max(...alarms) / tries).toBeLessThanOrEqual(most);
  });

  test('below the tolerance is no change, however certain', () => {
    const values = series(200, noises['a steady machine']!, 4).map((v, i) =>
      i < 100 ? v : v + 0.03,
    );
    expect(changePoints(values, 0)).toEqual([100]);
    expect(changePoints(values, Math.log(1.05))).toEqual([]);
  });
});

describe('a change', () => {
  const shifted = (length: number, at: number, step: number, noise: Noise, seed: number) =>
    series(length, noise, seed).map((value, i) => (i < at ? value : value + step));

  test.each([
    ['of 10 % on a steady machine', 'a steady machine', 40, 25, 0.1],
    ['of a factor of 2 among outliers', 'outliers of 3 times the time', 60, 30, Math.log(2)],
    ['of a factor of 2 on a noisy machine', 'a noisy machine', 100, 60, Math.log(2)],
    ['that 6 runs of 60 show', 'a steady machine', 60, 54, 0.2],
    ['to faster', 'a steady machine', 40, 20, -0.3],
  ] as const)('%s is found where it is', (_, noise, length, at, step) => {
    const tries = 50;
    let found = 0;
    for (let seed = 1; seed <= tries; seed++) {
      const changes = changePoints(shifted(length, at, step, noises[noise]!, seed), 0.04);
      if (changes.length === 1 && Math.abs(changes[0]! - at) <= 5) found++;
    }
    expect(found / tries).toBeGreaterThanOrEqual(0.95);
  });

  test('that is undone counts as two changes', () => {
    const noise = noises['a steady machine']!;
    const values = series(100, noise, 5).map((value, i) =>
      i >= 40 && i < 60 ? value + 0.5 : value,
    );
    expect(changePoints(values, 0.04)).toEqual([40, 60]);
  });

  test('after another is found as a separate step', () => {
    const noise = noises['a steady machine']!;
    const values = series(160, noise, 9).map((value, i) => value + Math.floor(i / 40) * 0.2);
    expect(changePoints(values, 0.04)).toEqual([40, 80, 120]);
  });
});

test('too few values are never a change', () => {
  const values = Array.from({ length: fewestValues - 1 }, (_, i) => (i < 3 ? 0 : 5));
  expect(changePoints(values, 0)).toEqual([]);
});

test('equal values are no change', () => {
  expect(changePoints(new Array<number>(50).fill(7), 0)).toEqual([]);
});

test('four times as many values take far less than 16 times as long', () => {
  const fastest = (length: number) => {
    const values = series(length, noises['a noisy machine']!, 3);
    const times = Array.from({ length: 7 }, () => {
      const begun = performance.now();
      changePoints(values, 0.05);
      return performance.now() - begun;
    });
    return Math.min(...times);
  };
  fastest(2_500);
  expect(fastest(10_000) / fastest(2_500)).toBeLessThan(10);
});

test('persistence tells drifting noise from independent noise', () => {
  const mean = (noise: Noise) =>
    Array.from({ length: 20 }, (_, seed) => persistence(series(200, noise, seed))).reduce(
      (sum, one) => sum + one / 20,
      0,
    );
  expect(mean(noises['a noisy machine']!)).toBeLessThan(1.1);
  expect(mean(noises['a machine that drifts']!)).toBeGreaterThan(1.2);
});
