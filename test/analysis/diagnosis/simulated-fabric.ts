import type { PairCell, PairMatrix } from '../../../src/analysis/diagnosis/cells.js';
import { concludeAll } from '../../../src/analysis/diagnosis/loss.js';
import { findSuspects } from '../../../src/analysis/diagnosis/suspects.js';
import { type RetestPairs, retestPairs } from '../../../src/benchmarks/pairs/retest-plan.js';
import { seededRandom } from '../../../src/measure/seeded-random.js';
import { type RankPair, roundRobin } from '../../../src/plan/rounds.js';
import { scanRounds } from '../../../src/plan/scan-rounds.js';
import type { Finding, Pace, Retest } from '../../../src/results/finding.js';
import { worldOf } from './matrices.js';

/** A fabric in which everything between two ranks on a rail follows from this. */
export interface World {
  readonly hosts: number;
  readonly rails: number;
  readonly share?: (from: number, to: number, rail: number) => number;
  readonly resent?: (from: number, to: number, rail: number) => number;
  readonly latencyFactor?: (from: number, to: number, rail: number) => number;
  readonly stopped?: (rank: number) => number;
  /** Only during the scan: what has gone when it is looked at again. */
  readonly passing?: boolean;
  /** The leaf and spine of each host. */
  readonly network?: { readonly leaves: readonly string[]; readonly spines: readonly string[] };
  /** What the links between a leaf and the spine carry on one rail, in NICs; the pairs that cross share it. */
  readonly uplink?: (leaf: string, rail: number) => number;
}

export const range = (count: number) => Array.from({ length: count }, (_, i) => i);

/** What `weft pairs` would find, with the measurement replaced by the description. */
export function findingsIn(world: World, seed: number): Finding[] {
  const fabric = new SimulatedFabric(world, seed);
  const { matrix, pace } = fabric;
  const railCells = world.rails > 1 ? fabric.railCells() : [];
  const suspects = findSuspects({ matrix, railCells, pace });
  const results = suspects.map((suspect) => ({
    suspect,
    retests: fabric.retest(retestPairs(suspect, suspects, matrix)),
    pace: world.passing ? [] : pace,
  }));
  return [...concludeAll(results, matrix).findings];
}

class SimulatedFabric {
  readonly #world: World;
  readonly #next: () => number;
  readonly matrix: PairMatrix;
  readonly pace: Pace[];

  constructor(world: World, seed: number) {
    this.#world = world;
    this.#next = seededRandom(seed);
    const { hosts, rails, network } = world;
    const places = { ...worldOf(hosts, rails), ...network };
    const rounds = network ? scanRounds(places, 'all') : roundRobin(range(hosts));
    const cells = [...rounds, ...rounds.map(turned)].flatMap((round) => this.#cellsOf(round));
    this.matrix = { ...places, cells };
    this.pace = range(hosts).map((rank) => paceOf(rank, world.stopped?.(rank) ?? 0));
  }

  #noisy(value: number): number {
    return value * (1 + 0.02 * (this.#next() - 0.5));
  }

  /** Of a pair while others are busy. */
  #share([from, to]: RankPair, rail: number, busy: readonly RankPair[]): number {
    const { share = () => 1, network, uplink } = this.#world;
    const own = share(from, to, rail);
    const leaves = network?.leaves;
    if (!uplink || !leaves || leaves[from] === leaves[to]) return own;
    const crossing = busy.filter(([a, b]) => leaves[a] !== leaves[b]);
    const part = (leaf: string) =>
      uplink(leaf, rail) /
      crossing.filter((pair) => pair.some((one) => leaves[one] === leaf)).length;
    return Math.min(own, part(leaves[from]!), part(leaves[to]!));
  }

  #cellsOf(round: readonly RankPair[]): PairCell[] {
    const { rails, resent = () => 0, latencyFactor = () => 1 } = this.#world;
    return round.map((pair) => {
      const [from, to] = pair;
      const late = this.#noisy(
        50_000 * Math.max(...range(rails).map((r) => latencyFactor(from, to, r))),
      );
      return {
        from,
        to,
        rail: undefined,
        // Split evenly, a block is as fast as its slowest part.
        gbps: this.#noisy(
          0.1 * rails * Math.min(...range(rails).map((r) => this.#share(pair, r, round))),
        ),
        latencyNs: late,
        latencyMeanNs: late * 1.2,
        resent: range(rails).reduce((sum, r) => sum + resent(from, to, r), 0),
      };
    });
  }

  railCells(): PairCell[] {
    const pairs: RankPair[] = [
      [0, 1],
      [2, 3],
    ];
    return range(this.#world.rails).flatMap((rail) =>
      pairs.map((pair): PairCell => {
        const gbps = this.#noisy(0.1 * this.#share(pair, rail, pairs));
        return { from: pair[0], to: pair[1], rail, gbps };
      }),
    );
  }

  retest({ subject, control, alone }: RetestPairs): Retest[] {
    const jobs = [
      { busy: subject, control: false },
      { busy: control, control: true },
      ...(alone && subject.length > 1 ? [{ busy: [alone], control: false, alone: true }] : []),
    ];
    return range(this.#world.rails).flatMap((rail) =>
      jobs.flatMap(({ busy, ...labels }) =>
        [busy, turned(busy)].flatMap((some) =>
          some.map((pair) => ({ ...this.#retestOf(pair, rail, some), ...labels })),
        ),
      ),
    );
  }

  #retestOf(pair: RankPair, rail: number, busy: readonly RankPair[]): Omit<Retest, 'control'> {
    const { passing = false, resent = () => 0, latencyFactor = () => 1 } = this.#world;
    const [from, to] = pair;
    const ns = this.#noisy(40_000 * (passing ? 1 : latencyFactor(from, to, rail)));
    return {
      from,
      to,
      rail,
      gbps: this.#noisy(0.1 * (passing ? 1 : this.#share(pair, rail, busy))),
      latencyNanoseconds: ns,
      latencyMeanNanoseconds: ns,
      resent: passing ? 0 : resent(from, to, rail),
    };
  }
}

const turned = (round: readonly RankPair[]): RankPair[] => round.map(([a, b]) => [b, a]);

export const paceOf = (rank: number, share: number): Pace => ({
  rank,
  wallMs: 1000,
  lostMs: 1000 * share + 20,
  queuedMs: 20,
  longestMs: 15,
});
