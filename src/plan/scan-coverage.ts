import { groupBy } from '../measure/group.js';
import type { RankPair } from './rounds.js';
import { peersPerHost, type ScanPlaces } from './scan-rounds.js';

/** How many of all there are. */
export interface Share {
  readonly covered: number;
  readonly all: number;
}

/** What the rounds of a scan reach. */
export interface Coverage {
  readonly rounds: number;
  /** Of ranks, whatever the direction. */
  readonly pairs: Share;
  readonly hosts: Share;
  /** One for each rank and channel: a pair uses all channels of both. */
  readonly nics: Share;
  /** Leaves in which a pair was measured; of a leaf with one host, at which. */
  readonly leaves?: Share;
  /** Pairs of leaves. */
  readonly crossings?: Share;
}

const half = (n: number): number => (n * (n - 1)) / 2;

export function coverageOf(
  { hosts, leaves }: ScanPlaces,
  rounds: readonly (readonly RankPair[])[],
  channels: number,
): Coverage {
  const distinct = new Map(rounds.flat().map((pair) => [[...pair].sort().join(' '), pair]));
  const pairs = [...distinct.values()];
  const ranks = new Set(pairs.flat());
  const covered = new Set([...ranks].map((rank) => hosts[rank]!));
  return {
    rounds: rounds.length,
    pairs: { covered: pairs.length, all: half(hosts.length) },
    hosts: { covered: covered.size, all: new Set(hosts).size },
    nics: { covered: ranks.size * channels, all: hosts.length * channels },
    ...(leaves && leafCoverage(hosts, leaves, pairs)),
  };
}

function leafCoverage(
  hosts: readonly string[],
  leaves: readonly string[],
  pairs: readonly RankPair[],
) {
  const hostsOf = groupBy(hosts.keys(), (rank) => leaves[rank]!);
  const alone = (leaf: string) => new Set(hostsOf.get(leaf)!.map((rank) => hosts[rank])).size === 1;
  const inside = pairs.filter(([a, b]) => leaves[a] === leaves[b] && hosts[a] !== hosts[b]);
  const seen = new Set(inside.map(([a]) => leaves[a]!));
  const crossings = new Set<string>();
  for (const [a, b] of pairs) {
    const ends = [leaves[a]!, leaves[b]!];
    for (const leaf of ends) if (alone(leaf)) seen.add(leaf);
    if (ends[0] !== ends[1]) crossings.add(JSON.stringify(ends.sort()));
  }
  return {
    leaves: { covered: seen.size, all: hostsOf.size },
    crossings: { covered: crossings.size, all: half(hostsOf.size) },
  };
}

/** What a second look at some ranks may measure. */
export interface Closer extends ScanPlaces {
  /** The ranks that stood out. */
  readonly ranks: readonly number[];
  readonly measured: readonly RankPair[];
  readonly inside: boolean;
  readonly across: boolean;
}

/**
 * More peers for ranks that stood out: up to ⌈log2 n⌉ each inside the leaf and as many across, whom they have not met
 * and who did not stand out themselves. No rank is in two pairs of a round.
 */
export function closerRounds({ hosts, leaves, ranks, measured, inside, across }: Closer) {
  const met = new Set(measured.flatMap(([a, b]) => [`${a} ${b}`, `${b} ${a}`]));
  const healthy = [...hosts.keys()].filter((rank) => !ranks.includes(rank));
  const most = peersPerHost(new Set(hosts).size);
  const sides =
    leaves === undefined ? [undefined] : [...(inside ? [true] : []), ...(across ? [false] : [])];
  const rounds: RankPair[][] = [];
  for (const same of sides) {
    for (let turn = 0; turn < most; turn++) {
      const busy = new Set<number>();
      const round = ranks.flatMap((rank): RankPair[] => {
        const peer = healthy.find(
          (other) =>
            hosts[other] !== hosts[rank] &&
            !busy.has(other) &&
            !met.has(`${rank} ${other}`) &&
            (same === undefined || (leaves![rank] === leaves![other]) === same),
        );
        if (peer === undefined) return [];
        busy.add(peer);
        met.add(`${rank} ${peer}`);
        return [[rank, peer]];
      });
      if (round.length === 0) break;
      rounds.push(round);
    }
  }
  return rounds;
}
