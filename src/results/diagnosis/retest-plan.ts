import type { PairMatrix } from './cells.js';
import type { Suspect } from './suspects.js';

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
  { hosts, cells }: PairMatrix,
): RetestPairs {
  const suspected = new Set(suspects.flatMap(({ ranks }) => ranks));
  const ranks = [...hosts.keys()];
  const healthy = ranks.filter((rank) => !suspected.has(rank));
  const manyHosts = new Set(hosts).size > 1;
  const between = (a: number, b: number) => hosts[a] !== hosts[b];
  const subject = subjectOf();
  const sameKind = (a: number, b: number) => a !== b && between(a, b) === between(...subject);
  return { subject, ...controlOf() };

  function subjectOf(): [number, number] {
    const [a, b] = suspect.ranks;
    if (suspect.kind === 'pair') return [a!, b!];
    if (suspect.kind === 'rail') return bestPair(healthy) ?? bestPair(ranks) ?? [0, 1];
    const others = (some: readonly number[]) =>
      some.filter((rank) => rank !== a && (!manyHosts || between(a!, rank)));
    const [partner] = [...others(healthy), ...others(bestFirst(a!)), ...bestFirst(a!)];
    return [a!, partner!];
  }

  function controlOf(): { control?: [number, number] } {
    const pairsOf = (some: readonly number[]) =>
      some.flatMap((a) => some.filter((b) => a < b && sameKind(a, b)).map((b) => [a, b] as const));
    const apart = (pair: readonly number[]) => !pair.some((rank) => subject.includes(rank));
    const isSubject = (pair: readonly number[]) => pair.every((rank) => subject.includes(rank));
    // Of a pair the ends themselves are not suspect: one of them with a third is a control, too.
    const wider =
      suspect.kind !== 'place'
        ? [...new Set([...healthy, ...subject])].sort((a, b) => a - b)
        : healthy;
    const choices = [...pairsOf(healthy).filter(apart), ...pairsOf(healthy), ...pairsOf(wider)];
    const [choice] = choices.filter((pair) => !isSubject(pair));
    return choice === undefined ? {} : { control: [choice[0], choice[1]] };
  }

  function bestPair(some: readonly number[]): [number, number] | undefined {
    const pairs = some.flatMap((a) => some.filter((b) => a < b).map((b) => [a, b] as const));
    const [best] = pairs.filter(([a, b]) => !manyHosts || between(a, b));
    return best && [best[0], best[1]];
  }

  /** Peers of a rank, the one it does best with first. */
  function bestFirst(rank: number): number[] {
    const gbps = (peer: number) =>
      Math.max(0, ...cells.filter((c) => c.from === rank && c.to === peer).map((c) => c.gbps ?? 0));
    return ranks.filter((peer) => peer !== rank).sort((a, b) => gbps(b) - gbps(a));
  }
}
