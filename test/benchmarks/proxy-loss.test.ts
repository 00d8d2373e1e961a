import { describe, expect, test } from 'vitest';
import { lossPercent } from '../../src/benchmarks/proxy/row.js';
import { partOf, type Timed } from '../../src/benchmarks/proxy/turns.js';

const timed = (batch: number, ...rounds: number[][]): Timed => ({
  count: { iterations: batch * rounds.flat().length, batch, expectedMs: 0 },
  rounds,
});

describe('the loss', () => {
  test('is of the rate: twice the time is half of it', () => {
    expect(lossPercent(timed(1, [100], [100]), timed(1, [200], [200]))).toBe(50);
    expect(lossPercent(timed(1, [100], [100]), timed(1, [80], [80]))).toBeCloseTo(-25);
  });

  test('is of an iteration, however many a sample holds', () => {
    expect(lossPercent(timed(10, [1000]), timed(1, [125]))).toBeCloseTo(20);
  });

  test('compares what was measured in the same round', () => {
    // A connection that turned three times slower after the first round, for both.
    const baseline = timed(1, [100, 101, 99], [300, 303, 297], [300, 301, 302]);
    const asked = timed(1, [102, 103, 101], [306, 306, 306], [307, 307, 307]);
    expect(lossPercent(baseline, asked)).toBeCloseTo(2, 0);
  });

  test('is not moved by one round in which only one of them was slow', () => {
    const baseline = timed(1, [100], [100], [100], [100], [100]);
    const asked = timed(1, [101], [101], [400], [101], [101]);
    expect(lossPercent(baseline, asked)).toBeCloseTo(1, 0);
  });
});

test.each([
  [7, 1, 7],
  [100, 1, 15],
  [16, 1, 15],
  [300, 20, 15],
  [90, 2, 11],
])(
  '%i iterations in samples of %i make %i rounds that add up to them',
  (iterations, batch, rounds) => {
    const count = { iterations, batch, expectedMs: 90 };
    const parts = Array.from({ length: rounds }, (_, round) => partOf(count, round, rounds));
    const sum = (pick: (part: typeof count) => number) =>
      parts.reduce((total, part) => total + pick(part), 0);
    expect(sum((part) => part.iterations)).toBe(iterations);
    expect(sum((part) => part.expectedMs)).toBeCloseTo(90);
    for (const part of parts) {
      expect(part.iterations).toBeGreaterThan(0);
      expect(part.iterations % batch).toBe(0);
    }
  },
);
