import type { JoinStep, Plan, Step } from '../plan.js';
import { type Block, checkRank, type Traffic } from '../traffic.js';
import {
  type PlacedPiece,
  placePieces,
  planFor,
  type WritePlanOptions,
  waitFor,
  writeOf,
} from '../write-plan.js';
import { type Transfer, transfersTraffic } from './transfers.js';

/** A transfer that may have to wait for others. */
export interface TracedTransfer extends Transfer {
  /**
   * Indices of earlier transfers that must be over: delivered where its sender sent them, arrived where its sender
   * received them.
   */
  readonly after?: readonly number[];
}

/** Traffic of transfers that wait for times and for each other, and the plans that keep to that. */
export interface Trace {
  readonly traffic: Traffic;
  plan(options: WritePlanOptions): Plan;
  /** Of that plan, by transfer: the steps of its rank after which the transfer is over. */
  ends(options: WritePlanOptions): ReadonlyMap<number, readonly number[]>;
}

export function traceOf(title: string, world: number, transfers: readonly TracedTransfer[]): Trace {
  const traffic = transfersTraffic(title, world, transfers);
  const blocks = blocksOf(traffic, transfers);
  const planned = (options: WritePlanOptions) => tracePlan(traffic, transfers, blocks, options);
  return {
    traffic,
    plan: (options) => planned(options).plan,
    ends: (options) => planned(options).ends,
  };
}

/** The block of each transfer: those of a sender are in the order of the list. */
function blocksOf(traffic: Traffic, transfers: readonly Transfer[]): Block[] {
  const next = new Map<number, number>();
  return transfers.map(({ from }) => {
    const index = next.get(from) ?? 0;
    next.set(from, index + 1);
    return traffic.outgoing(from)[index]!;
  });
}

function tracePlan(
  traffic: Traffic,
  transfers: readonly TracedTransfer[],
  blocks: readonly Block[],
  options: WritePlanOptions,
): { plan: Plan; ends: ReadonlyMap<number, readonly number[]> } {
  const { rank, channels, strategy } = options;
  checkRank('rank', rank, traffic.world);
  const steps: Step[] = [];
  const ends = new Map<number, number[]>();
  for (const [index, transfer] of transfers.entries()) {
    if (transfer.from !== rank && transfer.to !== rank) continue;
    const block = blocks[index]!;
    const pieces = placePieces(block, strategy, channels);
    const join = transfer.from === rank ? joinOf(transfer, ends) : undefined;
    const after = join ? [steps.push(join) - 1] : [];
    const make = (piece: PlacedPiece) =>
      transfer.from === rank ? { ...writeOf(block, piece), after } : waitFor(block, piece);
    ends.set(
      index,
      pieces.map((piece) => steps.push(make(piece)) - 1),
    );
  }
  return { plan: planFor(traffic, options, steps), ends };
}

/** What a transfer waits for; undefined where it waits for nothing. */
function joinOf(
  { notBefore, after = [] }: TracedTransfer,
  ends: ReadonlyMap<number, readonly number[]>,
): JoinStep | undefined {
  if (notBefore === undefined && after.length === 0) return undefined;
  const steps = after.flatMap((index) => {
    const known = ends.get(index);
    if (!known) throw new TypeError(`transfer ${index} is none of its sender's`);
    return known;
  });
  return { kind: 'join', after: steps, ...(notBefore !== undefined && { notBefore }) };
}
