import { expect, test } from 'vitest';
import { incast } from '../../src/benchmarks/incast.js';
import { permute } from '../../src/benchmarks/permute.js';
import { summarize } from '../../src/measure/statistics.js';
import { single } from '../../src/plan/strategies.js';

const usual = { turns: [], plans: [], marks: [], nanoseconds: summarize([1]) };
const situation = { world: 4, hosts: [], bytes: 4000, strategy: single, buffers: undefined };

test('incast compares what senders delivered until the first was done, and leaves the receiver out', () => {
  const options = { receiver: 1, senders: undefined };
  const figures = incast.figures!({
    ...{ ...usual, batch: 1, samples: [] },
    situation: { ...situation, options },
    // Rank 0 gets half of the line and the others a quarter each; they get more once rank 0 is done.
    byRank: [[[100, 100, 100, 100], [9999], [200, 200, 100, 100], [200, 200, 100, 100]]],
  });
  expect(figures.fairness).toBeCloseTo(75, 9);
});

test('permute names the permutation with the longest mean time of an iteration', () => {
  const figures = permute.figures!({
    ...{ ...usual, batch: 10, byRank: [] },
    situation: { ...situation, options: { permutations: 3, seed: 5 } },
    samples: [[10_000, 30_000], [30_000, 50_000], [39_000]],
  });
  expect(figures).toEqual({ worstGbps: 8, worstSeed: 6 });
});
