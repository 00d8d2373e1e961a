import { groupBy } from '../measure/group.js';
import { type RankPair, roundRobin, roundsOf } from './rounds.js';

/** Which pairs a scan chooses: inside leaves, across the spine, or both. */
export const scopes = ['leaf', 'spine', 'all'] as const;
export type Scope = (typeof scopes)[number];

export interface ScanPlaces {
  /** By rank. */
  readonly hosts: readonly string[];
  /** The leaf of each rank; absent where the network is not known. */
  readonly leaves?: readonly string[] | undefined;
}

/** log2 n, rounded up: how many peers a host meets at most inside its leaf, and as many across. */
export const peersPerHost = (hosts: number): number => Math.ceil(Math.log2(Math.max(2, hosts)));

/**
 * The rounds of a scan. Without a scope all pairs, with one at most n · ⌈log2 n⌉ pairs of n hosts: every host, every
 * leaf, and as many crossings (pairs of leaves) as that allows. Every rank is busy at most once a round. Where leaves
 * are known, a round is either inside leaves or across, with as many hosts as can take part: a spine that is
 * oversubscribed shows only when all cross it.
 */
export function scanRounds(places: ScanPlaces, scope: Scope | undefined): RankPair[][] {
  const { hosts, leaves } = places;
  if (scope === undefined && leaves === undefined) return roundsOf(hosts);
  const units = unitsOf(hosts);
  const most = scope === undefined ? Number.POSITIVE_INFINITY : peersPerHost(units.length);
  const all = [...units.keys()];
  if (leaves === undefined) return expand(spread(roundRobin(all), 2 * most), units, false);
  const groups = [...groupBy(all, (unit) => leaves[units[unit]![0]!]!).values()];
  const inside = scope === 'spine' ? [] : insideRounds(groups, most);
  const pairsLeft = all.length * most - inside.flat().length;
  const across = scope === 'leaf' ? [] : acrossRounds(groups, most, pairsLeft);
  const rounds = expand(inTurns(inside, across), units, scope === undefined);
  return scope === undefined ? [...rounds, ...together(units.map(roundRobin))] : rounds;
}

/** The ranks of each host; of a single host each rank by itself. */
function unitsOf(hosts: readonly string[]): number[][] {
  const groups = [...groupBy(hosts.keys(), (rank) => hosts[rank]!).values()];
  return groups.length > 1 ? groups : [...hosts.keys()].map((rank) => [rank]);
}

/** Every leaf with itself, all leaves at once. */
const insideRounds = (groups: readonly number[][], most: number): RankPair[][] =>
  together(groups.map((group) => spread(roundRobin(group), most)));

/** The first rounds of all as one, then the second, and so on; a leaf or host by itself has none. */
function together(many: readonly RankPair[][][]): RankPair[][] {
  const longest = Math.max(0, ...many.map((rounds) => rounds.length));
  return Array.from({ length: longest }, (_, i) =>
    many.flatMap((rounds) => rounds[i] ?? []),
  ).filter((round) => round.length > 0);
}

/** What drifts with time must not look like a difference between leaf and spine. */
const inTurns = <T>(first: readonly T[], second: readonly T[]): T[] =>
  Array.from({ length: Math.max(first.length, second.length) }, (_, i) => [
    ...first.slice(i, i + 1),
    ...second.slice(i, i + 1),
  ]).flat();

const spread = <T>(all: readonly T[], most: number): T[] =>
  all.length <= most
    ? [...all]
    : Array.from({ length: most }, (_, i) => all[Math.floor((i * all.length) / most)]!);

/** Pairs of hosts as pairs of their ranks: each rank with one of the other host, or with each in turn. */
function expand(
  rounds: readonly RankPair[][],
  units: readonly number[][],
  everyone: boolean,
): RankPair[][] {
  return rounds.flatMap((round, turn) => {
    const most = Math.max(...round.flat().map((unit) => units[unit]!.length));
    const shifts = everyone ? Array.from({ length: most }, (_, i) => i) : [turn % most];
    return shifts.map((shift) =>
      round.flatMap(([a, b]) => {
        const [near, far] = [units[a]!, units[b]!];
        const wide = Math.max(near.length, far.length);
        return near.flatMap((rank, i): RankPair[] => {
          const peer = far[(i + shift) % wide];
          return peer === undefined ? [] : [[rank, peer]];
        });
      }),
    );
  });
}

/** `count` rounds across leaves (fewer where all hosts have met), then up to `mostPairs` for leaves that have not met. */
function acrossRounds(groups: readonly number[][], count: number, mostPairs: number): RankPair[][] {
  const crossings = new Crossings(groups);
  const rounds: RankPair[][] = [];
  for (let left = mostPairs; left > 0; left -= rounds.at(-1)!.length) {
    const round = rounds.length < count ? crossings.round(rounds.length) : crossings.strangers();
    if (round.length === 0) break;
    rounds.push(round.slice(0, left));
  }
  return rounds;
}

/** Matches hosts of different leaves: the leaves that met least come first, and no two hosts meet twice. */
class Crossings {
  readonly #groups: readonly number[][];
  readonly #met = new Set<string>();
  readonly #times: number[][];
  /** Pairs of leaves that have not met. */
  #open: number;

  constructor(groups: readonly number[][]) {
    this.#groups = groups;
    this.#times = groups.map(() => groups.map(() => 0));
    this.#open = (groups.length * (groups.length - 1)) / 2;
  }

  round(turn: number): RankPair[] {
    const left = this.#groups.map((group, leaf) => rotated(group, turn * leaf));
    const pairs: RankPair[] = [];
    for (;;) {
      const from = largest(left);
      if (left[from]!.length === 0) return pairs;
      const pair = this.#match(from, left);
      // Who has met everyone who is free rests for this round.
      if (pair === undefined) left[from]!.shift();
      else pairs.push(pair);
    }
  }

  /** Only leaves that have not met: beside a leaf with half of all hosts, small ones do not meet in a full round. */
  strangers(): RankPair[] {
    const left = this.#groups.map((group) => [...group]);
    const pairs: RankPair[] = [];
    for (let a = 0; this.#open > 0 && a < left.length; a++) {
      for (let b = a + 1; b < left.length; b++) {
        const pair = this.#times[a]![b] === 0 ? this.#meet(a, b, left) : undefined;
        if (pair) pairs.push(pair);
      }
    }
    return pairs;
  }

  #match(from: number, left: readonly number[][]): RankPair | undefined {
    const total = left.reduce((sum, group) => sum + group.length, 0);
    const rank = (leaf: number): number[] => {
      const own = left[leaf]!.length;
      // A leaf with half of all who are free must be matched now, or some of its hosts find nobody.
      return [2 * own > total - 2 ? 0 : 1, this.#times[from]![leaf]!, -own];
    };
    const others = [...left.keys()].filter((leaf) => leaf !== from && left[leaf]!.length > 0);
    const first = least(others, rank);
    const ordered = first === undefined ? [] : [first, ...others.filter((leaf) => leaf !== first)];
    for (const to of ordered) {
      const pair = this.#meet(from, to, left);
      if (pair !== undefined) return pair;
    }
    return undefined;
  }

  #meet(from: number, to: number, left: readonly number[][]): RankPair | undefined {
    const pair = this.#take(left[from]!, left[to]!);
    if (pair === undefined) return undefined;
    if (this.#times[from]![to] === 0) this.#open--;
    this.#times[from]![to]!++;
    this.#times[to]![from]!++;
    return pair;
  }

  #take(near: number[], far: number[]): RankPair | undefined {
    for (const [i, a] of near.entries()) {
      const j = far.findIndex((b) => !this.#met.has(key(a, b)));
      if (j < 0) continue;
      const b = far[j]!;
      near.splice(i, 1);
      far.splice(j, 1);
      this.#met.add(key(a, b));
      return [a, b];
    }
    return undefined;
  }
}

const key = (a: number, b: number): string => (a < b ? `${a} ${b}` : `${b} ${a}`);

const rotated = (group: readonly number[], by: number): number[] => [
  ...group.slice(by % group.length),
  ...group.slice(0, by % group.length),
];

const largest = (groups: readonly number[][]): number =>
  groups.reduce((best, group, i) => (group.length > groups[best]!.length ? i : best), 0);

/** The first with the least rank. */
function least(leaves: readonly number[], rank: (leaf: number) => number[]): number | undefined {
  let best: { leaf: number; rank: number[] } | undefined;
  for (const leaf of leaves) {
    const own = rank(leaf);
    const differs = best ? own.findIndex((part, i) => part !== best!.rank[i]) : 0;
    if (!best || (differs >= 0 && own[differs]! < best.rank[differs]!)) best = { leaf, rank: own };
  }
  return best?.leaf;
}
