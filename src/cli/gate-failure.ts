import { type Gate, unfinishedGate } from '../analysis/gate/gate.js';
import { schedulersName } from '../benchmarks/gate/gate.js';
import { isWeftError, messageOf } from '../errors.js';
import { UnfitRanks } from '../session/unfit-ranks.js';
import { AbsentRanks, type Identity } from '../world/index.js';

/** What a rank knows of a gate that the nodes did not begin or finish. */
export interface FailedGate {
  readonly gate: Gate;
  /** Its own node. */
  readonly own: string;
  /** Nodes that never joined and cannot speak for themselves. */
  readonly absent: readonly string[];
  /** The rank that speaks for them, and without --own for all. */
  readonly speaker: number;
  /** Ranks whose hosts lack what the job needs. */
  readonly unfit: readonly number[];
}

/** Its host refused the connection: it answers, and its gate may only have ended before ours began. */
const isAlive = ({ cause }: AbsentRanks): boolean =>
  (cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED';

export function failedGate(error: unknown, identity: Identity, seconds: number): FailedGate {
  const { rank, size, oneHost, expectedHosts, masterHost } = identity;
  const cause = isWeftError(error) ? error.cause : undefined;
  const absent =
    cause instanceof AbsentRanks && !isAlive(cause)
      ? cause.ranks.filter((one) => one !== rank)
      : [];
  // What all nodes lack is no fault of a node.
  const unfit = cause instanceof UnfitRanks && cause.ranks.length < size ? cause.ranks : [];
  const nameOf = (one: number) =>
    (one === rank ? schedulersName() : undefined) ??
    expectedHosts?.[one] ??
    (one === 0 && !oneHost ? masterHost : undefined) ??
    `rank${one}`;
  const namesOf = (ranks: readonly number[]) => [...new Set(ranks.map(nameOf))];
  const message = messageOf(error).replaceAll('\n', ' ');
  const blamed = new Map([
    ...namesOf(absent).map((name) => [name, `never joined within ${seconds} s`] as const),
    ...namesOf(unfit).map((name) => [name, message] as const),
  ]);
  const why = absent.length > 0 ? `${namesOf(absent).join(', ')} never joined` : message;
  const nodes = namesOf([...Array(size).keys()]);
  const at = { at: new Date().toISOString(), seconds };
  return {
    gate: unfinishedGate(nodes, blamed, `not measured: ${why}`, at),
    own: nameOf(rank),
    absent: namesOf(absent),
    speaker: absent.includes(0) ? 1 : 0,
    unfit,
  };
}
