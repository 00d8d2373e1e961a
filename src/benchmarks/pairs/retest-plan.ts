import type { PairMatrix } from '../../analysis/diagnosis/cells.js';
import type { RetestResult } from '../../analysis/diagnosis/conclude.js';
import { distanceOf, type NetworkPart, passes } from '../../analysis/diagnosis/network.js';
import type { Suspect } from '../../analysis/diagnosis/suspects.js';
import type { RankPair } from '../../plan/rounds.js';
import type { Finding, Retest } from '../../results/finding.js';

/** If there are more suspects than this, no single one is to blame; only the gravest are retested. */
export const mostRetests = 6;

/**
 * Whether to retest once more before a finding is believed. Half the bandwidth when measured alone is no accident; a
 * little less, or a few segments sent again, may come from a busy moment.
 */
export const needsSecondLook = (findings: readonly Finding[]): boolean =>
  findings.some(
    ({ symptom, effect }) => symptom !== 'stalls' && !(symptom === 'slow' && effect < 0.5),
  );

/** Two retests of the same pairs: the better result of each counts. */
export function bestOf(first: RetestResult, second: RetestResult): RetestResult {
  const retests = first.retests.map((one, index) => {
    const other = second.retests[index] ?? one;
    const least = (pick: (retest: Retest) => number) => Math.min(pick(one), pick(other));
    return {
      ...one,
      gbps: Math.max(one.gbps, other.gbps),
      latencyNanoseconds: least((r) => r.latencyNanoseconds),
      latencyMeanNanoseconds: least((r) => r.latencyMeanNanoseconds),
      resent: one.resent === null || other.resent === null ? null : least((r) => r.resent ?? 0),
    };
  });
  return { ...first, retests, pace: second.pace };
}

/** Pairs to measure with everyone else idle: the suspect's, and some that should be healthy. */
export interface RetestPairs {
  /** Several at once of a part of the network: some faults show only when it is busy. */
  readonly subject: readonly RankPair[];
  /** Empty where the world is too small for one; then rails and directions are each other's measure. */
  readonly control: readonly RankPair[];
  /** One of several, measured by itself as well. */
  readonly alone?: RankPair;
}

/**
 * Who is measured with whom. A suspect meets somebody who is not suspect; the control is a pair of such, apart from
 * the suspect's if there are enough. Ways inside a host and between hosts are not each other's measure.
 */
export function retestPairs(
  suspect: Suspect,
  suspects: readonly Suspect[],
  matrix: PairMatrix,
): RetestPairs {
  // Hosts are fine among themselves where only the way out of their leaf is suspect.
  const suspected = new Set(
    suspects.filter(({ part }) => !part || part.kind === 'leaf').flatMap(({ ranks }) => ranks),
  );
  if (suspect.part) return networkPairs(suspect.part, suspected, matrix);
  const healthy = [...matrix.hosts.keys()].filter((rank) => !suspected.has(rank));
  const subject = subjectOf(suspect, healthy, matrix);
  const control = controlOf(suspect, subject, healthy, matrix);
  return { subject: [subject], control: control ? [control] : [] };
}

type Pair = RankPair;
const endsOf = ([from, to]: Pair) => ({ from, to });

/** As many pairs as can be busy at once: those that pass the part, and those that go less far. */
function networkPairs(
  part: NetworkPart,
  suspected: ReadonlySet<number>,
  matrix: PairMatrix,
): RetestPairs {
  const neighbours = [...matrix.hosts.keys()].map((rank): Pair => [rank, rank + 1]).slice(0, -1);
  const pairs = [...matrix.cells.map(({ from, to }): Pair => [from, to]), ...neighbours];
  const far = (pair: Pair) => distanceOf(matrix, endsOf(pair));
  const [passing, others] = [true, false].map((wanted) =>
    pairs.filter((pair) => passes(part, endsOf(pair), matrix) === wanted),
  ) as [Pair[], Pair[]];
  const inside = passing.filter((pair) => far(pair) === 'leaf');
  const subject = disjoint(part.kind === 'leaf' && inside.length > 0 ? inside : passing);
  const less = part.kind === 'core' ? 'spine' : 'leaf';
  const control = others.filter(
    (pair) => far(pair) === less && !pair.some((rank) => suspected.has(rank)),
  );
  return { subject, control: disjoint(control), alone: subject[0]! };
}

/** Each rank in one pair: the first of those given that has it. */
function disjoint(pairs: readonly Pair[]): Pair[] {
  const busy = new Set<number>();
  return pairs.filter((pair) => {
    if (pair.some((rank) => busy.has(rank))) return false;
    for (const rank of pair) busy.add(rank);
    return true;
  });
}

function subjectOf({ kind, ranks }: Suspect, healthy: readonly number[], matrix: PairMatrix): Pair {
  const { hosts } = matrix;
  const [a, b] = ranks;
  if (kind === 'pair') return [a!, b!];
  const manyHosts = new Set(hosts).size > 1;
  const comparable = (x: number, y: number) => x !== y && (!manyHosts || hosts[x] !== hosts[y]);
  if (kind === 'rail') {
    const [pair] = [...pairsOf(healthy), ...pairsOf([...hosts.keys()])].filter((one) =>
      comparable(...one),
    );
    return pair ?? [0, 1];
  }
  const peers = bestFirst(a!, matrix);
  const near = (rank: number) => distanceOf(matrix, { from: a!, to: rank }) === 'leaf';
  const choices = [...healthy, ...peers].filter((rank) => comparable(a!, rank));
  const [partner] = [...choices.filter(near), ...choices, ...peers];
  return [a!, partner!];
}

function controlOf(
  { kind }: Suspect,
  subject: Pair,
  healthy: readonly number[],
  matrix: PairMatrix,
): Pair | undefined {
  const far = (pair: Pair) => distanceOf(matrix, endsOf(pair));
  const shared = (pair: Pair) => pair.filter((rank) => subject.includes(rank)).length;
  // Of a pair the ends themselves are not suspect: one of them with a third is a control, too.
  const wider =
    kind === 'place' ? healthy : [...new Set([...healthy, ...subject])].sort((a, b) => a - b);
  const choices = [
    ...pairsOf(healthy).filter((pair) => shared(pair) === 0),
    ...pairsOf(healthy),
    ...pairsOf(wider),
  ];
  return choices.find((pair) => shared(pair) < 2 && far(pair) === far(subject));
}

const pairsOf = (some: readonly number[]): Pair[] =>
  some.flatMap((a) => some.filter((b) => a < b).map((b) => [a, b] as const));

/** Peers of a rank, the one it does best with first. */
function bestFirst(rank: number, { hosts, cells }: PairMatrix): number[] {
  const best = new Map<number, number>();
  for (const { from, to, gbps: own = 0 } of cells) {
    if (from === rank) best.set(to, Math.max(own, best.get(to) ?? 0));
  }
  const gbps = (peer: number) => best.get(peer) ?? 0;
  return [...hosts.keys()].filter((peer) => peer !== rank).sort((a, b) => gbps(b) - gbps(a));
}
