import { expect, test } from 'vitest';
import { incast } from '../../src/benchmarks/incast.js';
import { permute } from '../../src/benchmarks/permute.js';
import { summarize } from '../../src/measure/statistics.js';
import { single } from '../../src/plan/strategies.js';

const usual = { turns: [], plans: [], marks: [], nanoseconds: summarize([1]) };
const situation = { world: 4, hosts: [], bytes: 4000, strategy: single, buffers: undefined };

test('incast compares the slowest sender with the mean, and leaves the receiver out', () => {
  const options = { receiver: 1, senders: undefined };
  const figures = incast.figures!({
    ...{ ...usual, batch: 1, samples: [] },
    situation: { ...situation, options },
    // Rates of 1/100, 1/100 and 1/400.
    byRank: [[[50, 150], [9999], [100, 100], [300, 500]]],
  });
  expect(figures.fairness).toBeCloseTo((100 * 0.0025) / 0.0075, 9);
});

test('permute names the permutation with the longest mean time of an iteration', () => {
  const figures = permute.figures!({
    ...{ ...usual, batch: 10, byRank: [] },
    situation: { ...situation, options: { permutations: 3, seed: 5 } },
    samples: [[10_000, 30_000], [30_000, 50_000], [39_000]],
  });
  expect(figures).toEqual({ worstGbps: 8, worstSeed: 6 });
});
