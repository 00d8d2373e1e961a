import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { drawTokens, expertCounts, type Popularity, placeExperts } from '../../src/plan/routing.js';
import { arbitraryDraw, routingOf, usual } from './drawn-routing.js';

test('choices beyond hot experts that have all of the shares go to any other expert', () => {
  const popularity = { kind: 'hot', experts: 2, share: 1 } as const;
  const drawn = { tokens: 400, world: 1, experts: 10, topK: 4, popularity, seed: 1 };
  const [tokens] = drawTokens(drawn);
  const counts = new Array(10).fill(0) as number[];
  for (const expert of tokens!.experts) counts[expert]!++;
  const [first, second, ...others] = counts.sort((a, b) => b - a);
  expect([first, second]).toEqual([400, 400]);
  // 100 each, on average.
  expect(Math.min(...others)).toBeGreaterThan(60);
});

describe('a routing', () => {
  test('is the same for the same seed and gives each token different experts', () => {
    fc.assert(
      fc.property(arbitraryDraw(30), (drawn) => {
        const [one, two] = [drawTokens(drawn), drawTokens(drawn)];
        expect(one).toEqual(two);
        for (const { starts, experts, count } of one) {
          for (let token = 0; token < count; token++) {
            const own = experts.subarray(starts[token], starts[token + 1]);
            expect(new Set(own).size).toBe(drawn.topK);
          }
        }
      }),
    );
  });

  const sharesOf = (popularity: Popularity): number[] => {
    const drawn = { ...usual, world: 4, tokens: 4000, topK: 1, experts: 8, popularity, seed: 3 };
    const counts = expertCounts(routingOf(drawn));
    const sums = counts[0]!.map((_, expert) => counts.reduce((sum, own) => sum + own[expert]!, 0));
    return [...sums].sort((a, b) => b - a).map((count) => count / 16_000);
  };

  test('follows the popularity asked for', () => {
    for (const share of sharesOf({ kind: 'uniform' })) expect(share).toBeCloseTo(1 / 8, 1.5);
    const zipf = sharesOf({ kind: 'zipf', exponent: 1 });
    const harmonic = [1, 2, 3, 4, 5, 6, 7, 8].reduce((sum, n) => sum + 1 / n, 0);
    zipf.forEach((share, i) => {
      expect(share).toBeCloseTo(1 / (i + 1) / harmonic, 1.5);
    });
    const hot = sharesOf({ kind: 'hot', experts: 2, share: 0.8 });
    expect(hot[0]! + hot[1]!).toBeCloseTo(0.8, 1.5);
  });

  test('puts experts beside each other, or on each rank in turn', () => {
    expect([...placeExperts(6, 4, 'block')]).toEqual([0, 0, 1, 2, 2, 3]);
    expect([...placeExperts(6, 4, 'round-robin')]).toEqual([0, 1, 2, 3, 0, 1]);
  });
});
