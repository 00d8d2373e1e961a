import { expect, test } from 'vitest';
import { drawTokens } from '../../src/plan/routing.js';

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
