import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RankPair } from '../../src/plan/rounds.js';
import { closerRounds, coverageOf } from '../../src/plan/scan-coverage.js';
import { peersPerHost, type ScanPlaces, scanRounds, scopes } from '../../src/plan/scan-rounds.js';

/** Leaves with so many hosts each. */
function placesOf(sizes: readonly number[], ranksPerHost = 1): ScanPlaces {
  const leaves = sizes.flatMap((size, leaf) => Array(size * ranksPerHost).fill(`leaf${leaf}`));
  const hosts = leaves.map((_, rank) => `h${Math.floor(rank / ranksPerHost)}`);
  return { hosts, leaves };
}

const busyOnce = (round: readonly RankPair[]) => new Set(round.flat()).size === 2 * round.length;
const unordered = (rounds: readonly RankPair[][]) =>
  rounds.flat().map(([a, b]) => (a < b ? `${a} ${b}` : `${b} ${a}`));
const crosses = ({ leaves }: ScanPlaces, [a, b]: RankPair) => leaves![a] !== leaves![b];

describe('1,024 hosts on 32 leaves', () => {
  const places = placesOf(Array(32).fill(32));
  const rounds = scanRounds(places, 'all');

  test('20 rounds of 512 pairs cover every host, NIC, leaf and crossing', () => {
    expect(coverageOf(places, rounds, 8)).toEqual({
      rounds: 20,
      pairs: { covered: 10_240, all: 523_776 },
      hosts: { covered: 1024, all: 1024 },
      nics: { covered: 8192, all: 8192 },
      leaves: { covered: 32, all: 32 },
      crossings: { covered: 496, all: 496 },
    });
    expect(rounds.map((round) => round.length)).toEqual(Array(20).fill(512));
    expect(rounds.every(busyOnce)).toBe(true);
  });

  test('every crossing is met in the first two rounds across, and pairs do not repeat', () => {
    const early = rounds.filter((round) => crosses(places, round[0]!)).slice(0, 2);
    expect(coverageOf(places, early, 1).crossings).toEqual({ covered: 496, all: 496 });
    expect(new Set(unordered(rounds)).size).toBe(10_240);
  });

  test('leaf stays inside leaves, spine always crosses', () => {
    const leaf = scanRounds(places, 'leaf');
    const spine = scanRounds(places, 'spine');
    expect([leaf.length, spine.length]).toEqual([10, 10]);
    expect(leaf.flat().some((pair) => crosses(places, pair))).toBe(false);
    expect(spine.flat().every((pair) => crosses(places, pair))).toBe(true);
  });

  test('without a network, 20 rounds give every host 20 peers', () => {
    const flat = scanRounds({ hosts: places.hosts }, 'all');
    expect(flat).toHaveLength(20);
    expect(new Set(unordered(flat)).size).toBe(10_240);
    expect(flat.every(busyOnce)).toBe(true);
  });
});

test('many small leaves: rounds that small leaves leave free go to crossings', () => {
  const places = placesOf(Array(128).fill(8));
  const { rounds, crossings, leaves } = coverageOf(places, scanRounds(places, 'all'), 1);
  expect(leaves).toEqual({ covered: 128, all: 128 });
  expect(crossings!.covered).toBeGreaterThan(0.8 * 8128);
  expect(rounds).toBeLessThanOrEqual(22);
});

const shapes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 6 });

test('of any network a scan keeps its bound, is either inside leaves or across, and repeats nothing', () => {
  fc.assert(
    fc.property(
      shapes,
      fc.constantFrom(...scopes),
      fc.integer({ min: 1, max: 3 }),
      (sizes, scope, ranks) => {
        const places = placesOf(sizes, ranks);
        const hosts = new Set(places.hosts).size;
        fc.pre(hosts > 1);
        const rounds = scanRounds(places, scope);
        expect(rounds.every(busyOnce)).toBe(true);
        expect(rounds.flat().length).toBeLessThanOrEqual(ranks * hosts * peersPerHost(hosts));
        for (const round of rounds) {
          expect(new Set(round.map((pair) => crosses(places, pair))).size).toBe(1);
          expect(round.every(([a, b]) => places.hosts[a] !== places.hosts[b])).toBe(true);
        }
        expect(new Set(unordered(rounds)).size).toBe(rounds.flat().length);
      },
    ),
  );
});

test('all covers every host, every leaf, and every crossing where the bound allows', () => {
  fc.assert(
    fc.property(shapes, (sizes) => {
      const places = placesOf(sizes);
      fc.pre(places.hosts.length > 1);
      const { hosts, leaves, crossings } = coverageOf(places, scanRounds(places, 'all'), 1);
      expect(hosts.covered).toBe(hosts.all);
      expect(leaves!.covered).toBe(leaves!.all);
      expect(crossings!.covered).toBe(crossings!.all);
    }),
  );
});

test('without a scope every pair is measured once, inside leaves and across in turns', () => {
  fc.assert(
    fc.property(shapes, fc.integer({ min: 1, max: 3 }), (sizes, ranks) => {
      const places = placesOf(sizes, ranks);
      const n = places.hosts.length;
      const rounds = scanRounds(places, undefined);
      expect(rounds.every((round) => round.length > 0)).toBe(true);
      const pairs = unordered(rounds);
      expect(pairs).toHaveLength((n * (n - 1)) / 2);
      expect(new Set(pairs).size).toBe(pairs.length);
    }),
  );
});

test('2 leaves with 4 hosts each: all hosts cross at once', () => {
  const places = placesOf([4, 4]);
  const rounds = scanRounds(places, 'all');
  expect(rounds.map((round) => round.length)).toEqual(Array(6).fill(4));
  expect(rounds.map((round) => crosses(places, round[0]!))).toEqual([
    false,
    true,
    false,
    true,
    false,
    true,
  ]);
});

test('a closer look gives suspects peers that they have not met and that are not suspect', () => {
  const places = placesOf([8, 8]);
  const measured = scanRounds(places, 'all').flat();
  const rounds = closerRounds({ ...places, ranks: [2, 9], measured, inside: true, across: true });
  expect(rounds.length).toBeGreaterThan(0);
  expect(rounds.every(busyOnce)).toBe(true);
  const met = new Set(unordered([measured]));
  for (const pair of rounds.flat()) {
    expect(pair.filter((rank) => [2, 9].includes(rank))).toHaveLength(1);
    expect(met.has(unordered([[pair]])[0]!)).toBe(false);
  }
  const inside = closerRounds({ ...places, ranks: [2], measured, inside: true, across: false });
  expect(inside.flat().some((pair) => crosses(places, pair))).toBe(false);
});
