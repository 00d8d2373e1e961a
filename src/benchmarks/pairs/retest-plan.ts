import type { PairMatrix } from '../../analysis/diagnosis/cells.js';
import type { RetestResult } from '../../analysis/diagnosis/conclude.js';
import type { Suspect } from '../../analysis/diagnosis/suspects.js';
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

/** Two pairs to measure with everyone else idle: the suspect's, and one that should be healthy. */
export interface RetestPairs {
  readonly subject: readonly [number, number];
  /** Absent where the world is too small for one; then rails and directions are each other's measure. */
  readonly control?: readonly [number, number];
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
  const suspected = new Set(suspects.flatMap(({ ranks }) => ranks));
  const healthy = [...matrix.hosts.keys()].filter((rank) => !suspected.has(rank));
  const subject = subjectOf(suspect, healthy, matrix);
  const control = controlOf(suspect, subject, healthy, matrix);
  return { subject, ...(control && { control }) };
}

type Pair = readonly [number, number];

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
  const [partner] = [...[...healthy, ...peers].filter((rank) => comparable(a!, rank)), ...peers];
  return [a!, partner!];
}

function controlOf(
  { kind }: Suspect,
  subject: Pair,
  healthy: readonly number[],
  { hosts }: PairMatrix,
): Pair | undefined {
  const inside = ([a, b]: Pair) => hosts[a] === hosts[b];
  const shared = (pair: Pair) => pair.filter((rank) => subject.includes(rank)).length;
  // Of a pair the ends themselves are not suspect: one of them with a third is a control, too.
  const wider =
    kind === 'place' ? healthy : [...new Set([...healthy, ...subject])].sort((a, b) => a - b);
  const choices = [
    ...pairsOf(healthy).filter((pair) => shared(pair) === 0),
    ...pairsOf(healthy),
    ...pairsOf(wider),
  ];
  return choices.find((pair) => shared(pair) < 2 && inside(pair) === inside(subject));
}

const pairsOf = (some: readonly number[]): Pair[] =>
  some.flatMap((a) => some.filter((b) => a < b).map((b) => [a, b] as const));

/** Peers of a rank, the one it does best with first. */
function bestFirst(rank: number, { hosts, cells }: PairMatrix): number[] {
  const gbps = (peer: number) =>
    Math.max(0, ...cells.filter((c) => c.from === rank && c.to === peer).map((c) => c.gbps ?? 0));
  return [...hosts.keys()].filter((peer) => peer !== rank).sort((a, b) => gbps(b) - gbps(a));
}
