/** Element types of numbers that can be added. */
export const sumDtypes = ['float32', 'float16', 'bfloat16', 'int32'] as const;
export type SumDtype = (typeof sumDtypes)[number];

/** Every rank sends blocks of their own sizes to every rank. They lie one after the other, in the order of ranks. */
export interface AllToAllV {
  readonly kind: 'alltoallv';
  /** Every block of every rank has the same size. */
  readonly uniform: boolean;
  /** Divides the size of every block; default 1. */
  readonly elementBytes?: number;
  /** By target rank. */
  sendBytes(rank: number): readonly number[];
  /** By source rank. */
  receiveBytes(rank: number): readonly number[];
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
