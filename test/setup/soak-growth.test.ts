import { describe, expect, test } from 'vitest';
import { growthOf, isGrowth } from '../../scripts/soak-growth.mjs';

/** Two hours of samples, one a minute. */
const samples = (valueAt: (minute: number) => number) =>
  Array.from({ length: 120 }, (_, minute) => ({
    ...{ atMs: minute * 60_000, residentKiB: valueAt(minute), descriptors: valueAt(minute) },
    ...{ heapKiB: 17_000, mallocKiB: 7000, threads: 12, sharedKiB: 0 },
  }));
const grows = (figure: 'residentKiB' | 'descriptors', valueAt: (minute: number) => number) =>
  isGrowth(growthOf(samples(valueAt), figure), 2);

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
