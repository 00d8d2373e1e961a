import type { Plan, SumDtype } from './plan.js';
import type { Content, Traffic } from './traffic.js';
import type { WritePlanOptions } from './write-plan.js';

/** Every rank sends blocks of their own sizes to every rank. They lie one after the other, in the order of ranks. */
export interface AllToAllV {
  readonly kind: 'alltoallv';
  /** Every block of every rank has the same size. */
  readonly uniform: boolean;
  /** Divides the size of every block. */
  readonly elementBytes: 1 | 2 | 4 | 8;
  /** By target rank. */
  sendBytes(rank: number): readonly number[];
  /** By source rank. */
  receiveBytes(rank: number): readonly number[];
}

/** An exchange of any sizes. `unitBytes` divides all of them: libraries that count elements can count larger ones. */
export function allToAllV(
  world: number,
  bytesBetween: (source: number, target: number) => number,
  unitBytes = 1,
): AllToAllV {
  const ranks = Array.from({ length: world }, (_, rank) => rank);
  const sendBytes = (rank: number) => ranks.map((target) => bytesBetween(rank, target));
  const first = bytesBetween(0, 0);
  return {
    kind: 'alltoallv',
    uniform: ranks.every((rank) => sendBytes(rank).every((bytes) => bytes === first)),
    elementBytes: ([8, 4, 2] as const).find((size) => unitBytes % size === 0) ?? 1,
    sendBytes,
    receiveBytes: (rank) => ranks.map((source) => bytesBetween(source, rank)),
  };
}

/** The same size on every rank, from one buffer to another. */
export interface SizedCollective {
  readonly kind: 'allreduce' | 'allgather' | 'reduce-scatter' | 'broadcast';
  /** What each rank has (allreduce, broadcast), gives (allgather) or gets (reduce-scatter). */
  readonly bytes: number;
  readonly dtype: SumDtype;
  /** Of a broadcast; default 0. */
  readonly root?: number;
}

/** What all ranks do together, as collective libraries name it. Sums are the only reduction. */
export type Collective = AllToAllV | SizedCollective;

/**
 * What a program does on each rank besides calling the library, until it has what a plan gives: steps in the rank's own
 * buffers alone. Its time is part of what the library is compared by.
 */
export interface AroundCall {
  /** For tables and run files: `packing`. */
  readonly what: string;
  targetBytes(rank: number): number;
  plan(options: WritePlanOptions): Plan;
}

export const elementBytesOf = (dtype: SumDtype): number =>
  dtype === 'float32' || dtype === 'int32' ? 4 : 2;

/** Whether numbers are added; otherwise they are only moved. */
export const adds = (collective: Collective): collective is SizedCollective =>
  collective.kind === 'allreduce' || collective.kind === 'reduce-scatter';

/** How much of its input and of its output a rank uses. */
export function footprintOf(collective: Collective, rank: number, world: number) {
  if (collective.kind === 'alltoallv') {
    return {
      sourceBytes: sum(collective.sendBytes(rank)),
      targetBytes: sum(collective.receiveBytes(rank)),
    };
  }
  const { kind, bytes, root = 0 } = collective;
  const isRoot = kind === 'broadcast' && rank === root;
  return {
    sourceBytes:
      kind === 'reduce-scatter' ? world * bytes : kind === 'broadcast' && !isRoot ? 0 : bytes,
    targetBytes: kind === 'allgather' ? world * bytes : isRoot ? 0 : bytes,
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

/** What ranks hold before and after a collective. No plan carries it out: it has no transfers of its own. */
export function collectiveTraffic(collective: Collective, world: number): Traffic {
  const footprint = (rank: number) => footprintOf(collective, rank, world);
  const numbers = adds(collective) && {
    dtype: collective.dtype,
    weight: world,
    of: (rank: number) => [{ offset: 0, bytes: footprint(rank).sourceBytes }],
  };
  return {
    title: collective.kind,
    world,
    sequential: false,
    outgoing: () => [],
    incoming: () => [],
    contents: (rank) => contentsAfter(collective, rank, world),
    ...(numbers && { numbers }),
    sourceBytes: (rank) => footprint(rank).sourceBytes,
    targetBytes: (rank) => footprint(rank).targetBytes,
  };
}

function contentsAfter(collective: Collective, rank: number, world: number): Content[] {
  const ranks = Array.from({ length: world }, (_, one) => one);
  if (collective.kind === 'alltoallv') return blocksAfter(collective, rank);
  const { kind, bytes, root = 0 } = collective;
  const sumOf = (offset: number) => ranks.map((one) => ({ rank: one, offset }));
  switch (kind) {
    case 'allreduce':
      return [{ offset: 0, bytes, sumOf: sumOf(0) }];
    case 'reduce-scatter':
      return [{ offset: 0, bytes, sumOf: sumOf(rank * bytes) }];
    case 'allgather':
      return ranks.map((one) => ({
        offset: one * bytes,
        bytes,
        copyOf: { rank: one, offset: 0 },
      }));
    case 'broadcast':
      return rank === root ? [] : [{ offset: 0, bytes, copyOf: { rank: root, offset: 0 } }];
  }
}

function blocksAfter({ sendBytes, receiveBytes }: AllToAllV, rank: number): Content[] {
  let offset = 0;
  return receiveBytes(rank).map((bytes, source) => {
    const content = {
      offset,
      bytes,
      copyOf: { rank: source, offset: sum(sendBytes(source).slice(0, rank)) },
    };
    offset += bytes;
    return content;
  });
}
