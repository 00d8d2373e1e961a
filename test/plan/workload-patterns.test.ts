import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { halves } from '../../src/plan/patterns/halves.js';
import { randomPermutation } from '../../src/plan/patterns/permutation.js';

describe('a random permutation', () => {
  const arbitrary = [
    fc.integer({ min: 2, max: 600 }),
    fc.integer({ min: 0, max: 2 ** 31 }),
  ] as const;

  test('has everyone send once, receive once, and nobody send to itself', () => {
    fc.assert(
      fc.property(...arbitrary, (world, seed) => {
        const transfers = randomPermutation(world, seed, 8);
        expect(transfers.map(({ from }) => from)).toEqual([...Array(world).keys()]);
        expect(new Set(transfers.map(({ to }) => to)).size).toBe(world);
        expect(transfers.some(({ from, to }) => from === to)).toBe(false);
      }),
    );
  });

  test('is the same for the same seed, and another for most others', () => {
    const text = (seed: number) => JSON.stringify(randomPermutation(8, seed, 8));
    const seeds = Array.from({ length: 100 }, (_, seed) => seed);
    for (const seed of seeds) expect(text(seed)).toBe(text(seed));
    expect(new Set(seeds.map(text)).size).toBeGreaterThan(95);
  });

  test('sends to every other rank about equally often', () => {
    const counts = new Map<number, number>();
    for (let seed = 0; seed < 3000; seed++) {
      const { to } = randomPermutation(4, seed, 8)[0]!;
      counts.set(to, (counts.get(to) ?? 0) + 1);
    }
    expect([...counts.keys()].sort()).toEqual([1, 2, 3]);
    for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(150);
  });
});

describe('halves', () => {
  const hosts = (...counts: number[]) =>
    counts.flatMap((count, host) => Array<string>(count).fill(`host-${host}`));

  test('of one host are those of its ranks', () => {
    expect(halves(hosts(4))).toEqual([
      [0, 2],
      [1, 3],
    ]);
  });

  test('leave the last of an odd number idle', () => {
    expect(halves(hosts(5))).toEqual([
      [0, 2],
      [1, 3],
    ]);
  });

  test('never divide a host', () => {
    expect(halves(hosts(3, 3, 2))).toEqual([
      [0, 3],
      [1, 4],
      [2, 5],
    ]);
    expect(halves(hosts(1, 3))).toEqual([[0, 1]]);
  });

  test('keep ranks of a host together that are not neighbours', () => {
    expect(halves(['a', 'b', 'a', 'b'])).toEqual([
      [0, 1],
      [2, 3],
    ]);
  });
});
