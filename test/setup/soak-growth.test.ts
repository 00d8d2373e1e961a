import { describe, expect, test } from 'vitest';
import { growthOf, isGrowth, judge } from '../../scripts/soak-growth.mjs';

/** Two hours of samples, one a minute. */
const samples = (valueAt: (minute: number) => number) =>
  Array.from({ length: 120 }, (_, minute) => ({
    ...{ atMs: minute * 60_000, residentKiB: valueAt(minute), descriptors: valueAt(minute) },
    ...{ heapKiB: 17_000, mallocKiB: 7000, threads: 12, sharedKiB: 0 },
  }));
const grows = (figure: 'residentKiB' | 'descriptors', valueAt: (minute: number) => number) =>
  isGrowth(growthOf(samples(valueAt), figure), 2);

describe('a run of two hours', () => {
  const run = { jobs: ['write'], minutes: 120, warmUp: 0.2 };
  const flat = samples(() => 40);
  const series = ['launcher', 'process 1', 'process 2'].map((title) => ({
    ...{ job: 'write', title, samples: flat },
  }));

  test('passes if a launcher and two ranks stayed flat', () => {
    expect(judge(series, run)).toMatchObject({ against: [], rows: { length: 18 } });
  });

  test.each([
    ['nobody was sampled', [], /write: too few samples of 3 of 3/],
    [
      'a rank was sampled for a minute',
      [...series.slice(1), { ...series[0]!, samples: flat.slice(-5) }],
      /of 1 of 3/,
    ],
    [
      'all samples are of the warm-up',
      series.map((one) => ({ ...one, samples: flat.slice(0, 24) })),
      /of 3 of 3/,
    ],
    [
      'a rank grows',
      [...series, { ...series[0]!, samples: samples((minute) => minute) }],
      /launcher: descriptors grows/,
    ],
  ])('does not pass if %s', (_, seen, why) => {
    expect(judge(seen, run).against.join()).toMatch(why);
  });
});

describe('what a process holds', () => {
  test('grows when it gains on the whole', () => {
    expect(grows('residentKiB', (minute) => 200_000 + 200 * minute)).toBe(true);
    expect(grows('descriptors', (minute) => 40 + Math.floor(minute / 20))).toBe(true);
  });

  test('is flat when it breathes', () => {
    expect(grows('residentKiB', (minute) => 200_000 + 20_000 * (minute % 7))).toBe(false);
    expect(grows('descriptors', (minute) => 40 + (minute % 2) * 10)).toBe(false);
  });

  test('is flat when it shrinks', () => {
    expect(grows('residentKiB', (minute) => 300_000 - 500 * minute)).toBe(false);
  });

  test('gains what a line through its samples gains', () => {
    const { first, last, perHour } = growthOf(
      samples((minute) => 1000 + 2 * minute),
      'residentKiB',
    );
    expect(perHour).toBeCloseTo(120);
    expect(last - first).toBeCloseTo(160);
  });
});
