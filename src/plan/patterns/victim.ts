import { randomPermutation } from './permutation.js';
import type { TracedTransfer } from './trace.js';
import type { Transfer } from './transfers.js';

/** What the other ranks do: all write to the first of the pair; each writes to one other of them; each to all of them. */
export const victimLoads = ['incast', 'permute', 'all2all'] as const;
export type VictimLoad = (typeof victimLoads)[number];

interface VictimOptions {
  /** The first of the two pings and has the clock. */
  readonly pair: readonly [number, number];
  /** The ranks that load the fabric; none: the pair is alone. */
  readonly others: readonly number[];
  readonly bytes: number;
  readonly roundTrips: number;
  readonly load: VictimLoad;
  /** What each of the others writes, and the first part of it, whose delivery shows that it has begun. */
  readonly loadBytes: number;
}

/** Indices of transfers whose arrival at the first of the pair says something; `ended`: the last of them does. */
export interface VictimTransfers {
  readonly transfers: readonly TracedTransfer[];
  readonly pongs: readonly number[];
  readonly started: readonly number[];
  readonly ended: readonly number[];
}

/** The first part of a load, and the others: the answers of the pair find their way between them. */
const firstBytes = 64 * 1024;
const pieceBytes = 2 ** 20;
const mostPieces = 64;

/**
 * Round trips of one pair, one after the other, while others load the fabric. The first of the pair tells the others to
 * begin. It knows when the first part of each load is there, and when all of it is: by its arrival, or, where the load
 * goes elsewhere, because its sender says so.
 */
export function victimTransfers(options: VictimOptions): VictimTransfers {
  const { pair, others, bytes, roundTrips, load } = options;
  const [ping, pong] = pair;
  const transfers: TracedTransfer[] = [];
  const add = (one: TracedTransfer): number => transfers.push(one) - 1;
  const goes = new Map<number, number>();
  const pongs: number[] = [];
  for (let i = 0; i < roundTrips; i++) {
    const there = add({ from: ping, to: pong, bytes, ...(i > 0 && { after: [pongs[i - 1]!] }) });
    pongs.push(add({ from: pong, to: ping, bytes, after: [there] }));
    // By then both of the pair are in this iteration.
    if (i > 0) continue;
    for (const to of others) goes.set(to, add({ from: ping, to, bytes: 0, after: [pongs[0]!] }));
  }
  const marks = others.map((from) => {
    const after = [goes.get(from)!];
    const [first = [], rest = []] = loadOf(options, from).map((part) =>
      part.map((one) => add({ ...one, after })),
    );
    // What it receives itself needs no note.
    if (load === 'incast') return { started: first, ended: [...first, ...rest] };
    const note = (over: readonly number[]) => [add({ from, to: ping, bytes: 0, after: over })];
    return { started: note(first), ended: note([...first, ...rest]) };
  });
  return {
    ...{ transfers, pongs },
    started: marks.flatMap(({ started }) => started),
    ended: marks.flatMap(({ ended }) => ended),
  };
}

/** What one of the others writes: first a part to each of its targets, then the rest, in messages of some size. */
function loadOf({ pair, others, load, loadBytes }: VictimOptions, from: number): Transfer[][] {
  const targets = targetsOf(load, pair[0], others, from);
  const each = Math.max(1, Math.floor(loadBytes / targets.length));
  const first = Math.min(each, firstBytes);
  const piece = Math.max(pieceBytes, Math.ceil((each - first) / mostPieces));
  const pieces: number[] = [];
  for (let left = each - first; left > 0; left -= piece) pieces.push(Math.min(left, piece));
  const toAll = (bytes: number) => targets.map((to) => ({ from, to, bytes }));
  return [toAll(first), pieces.flatMap(toAll)];
}

function targetsOf(load: VictimLoad, ping: number, others: readonly number[], from: number) {
  if (load === 'incast') return [ping];
  if (load === 'all2all') return others.filter((other) => other !== from);
  const place = others.indexOf(from);
  return [others[randomPermutation(others.length, 1, 0)[place]!.to]!];
}

/** When the round trips of an iteration were over, and when loads had started and ended, on one clock. */
interface VictimTimes {
  readonly pongs: ArrayLike<number>;
  readonly started: ArrayLike<number>;
  readonly ended: ArrayLike<number>;
}

/** Of a round trip, or of the load where that is shorter, how much must fall into the other. */
const leastShare = 0.5;

/**
 * How long the round trips took, of those that were under load: between the first start of a load and the last end of
 * one. The first of an iteration is left out: it waits for the pair's other rank to end its last iteration.
 */
export function coveredRoundTrips({ pongs, started, ended }: VictimTimes): number[] {
  const alone = started.length === 0;
  const start = alone ? 0 : Array.from(started).reduce((a, b) => Math.min(a, b));
  const end = alone ? Number.POSITIVE_INFINITY : Array.from(ended).reduce((a, b) => Math.max(a, b));
  const found: number[] = [];
  for (let i = 1; i < pongs.length; i++) {
    const [from, to] = [pongs[i - 1]!, pongs[i]!];
    const loaded = Math.min(to, end) - Math.max(from, start);
    if (loaded > 0 && loaded >= leastShare * Math.min(to - from, end - start))
      found.push(to - from);
  }
  return found;
}
