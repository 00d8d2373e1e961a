import { describe, expect, test } from 'vitest';
import { roundRobin, roundsOf } from '../../src/plan/rounds.js';

const key = ([a, b]: readonly [number, number]) => (a < b ? `${a} ${b}` : `${b} ${a}`);
const allPairs = (n: number) => (n * (n - 1)) / 2;

describe('rounds', () => {
  test.each([2, 3, 4, 5, 7, 8, 16, 33])('%i ranks all meet once, each busy once a round', (n) => {
    const rounds = roundRobin([...Array(n).keys()]);
    expect(rounds).toHaveLength(n % 2 === 0 ? n - 1 : n);
    for (const round of rounds) {
      expect(new Set(round.flat()).size).toBe(2 * Math.floor(n / 2));
    }
    const met = rounds.flat().map(key);
    expect(met).toHaveLength(allPairs(n));
    expect(new Set(met).size).toBe(allPairs(n));
  });

  test.each([
    [4, 1],
    [4, 2],
    [3, 2],
    [2, 3],
    [5, 4],
    [3, 3],
  ])('%i hosts of %i ranks: all meet once, and NICs are shared alike', (hosts, each) => {
    const hostOf = Array.from({ length: hosts * each }, (_, rank) => `h${Math.floor(rank / each)}`);
    const rounds = roundsOf(hostOf);
    const met = rounds.flat().map(key);
    expect(new Set(met).size).toBe(allPairs(hosts * each));
    expect(met).toHaveLength(allPairs(hosts * each));
    for (const round of rounds) {
      expect(new Set(round.flat()).size).toBe(2 * round.length);
      const between = round.filter(([a, b]) => hostOf[a] !== hostOf[b]);
      const busy = [...new Set(hostOf)].map(
        (host) => between.flat().filter((rank) => hostOf[rank] === host).length,
      );
      expect(new Set(busy.filter((count) => count > 0)).size).toBeLessThanOrEqual(1);
    }
  });

  test('hosts with different numbers of ranks still all meet', () => {
    const met = roundsOf(['a', 'a', 'a', 'b', 'c']).flat().map(key);
    expect(new Set(met).size).toBe(allPairs(5));
  });
});
