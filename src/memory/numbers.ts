import { addon } from '../native/addon.js';
import type { Mismatch, NativeMemory } from '../native/memory.js';
import { type SumDtype, sumDtypes } from '../plan/plan.js';

/** Part of a buffer that holds a sum of small whole numbers; one addend of weight 1 is the numbers themselves. */
export interface NumberPart {
  readonly offset: number;
  readonly bytes: number;
  readonly sumOf: readonly {
    readonly seed: number;
    /** Of the first number among those of the seed, in bytes. */
    readonly position: number;
    readonly weight: number;
  }[];
}

/** How the numbers of a check are stored, and how many of them are not 0. */
export interface NumberKind {
  readonly dtype: SumDtype;
  /** One in so many is not 0, so that sums stay exact. */
  readonly sparsity: number;
}

/** Numbers are −3 … 3: up to these sums of as many ranks, all whole numbers are exact in the type. */
const largestExact: Readonly<Record<SumDtype, number>> = {
  float32: 2 ** 24,
  int32: 2 ** 30,
  float16: 2 ** 11,
  bfloat16: 2 ** 8,
};

/** Numbers of which `addends` can be added in any order without rounding. */
export function numbersFor(dtype: SumDtype, addends: number): NumberKind {
  const most = 3 * addends;
  const exact = largestExact[dtype];
  // Where not all can be other than 0, so few are that the sum of an unlucky element stays exact, too.
  return { dtype, sparsity: most <= exact ? 1 : Math.ceil((8 * most) / exact) };
}

const encode = (parts: readonly NumberPart[]): Float64Array =>
  Float64Array.from(
    parts.flatMap(({ offset, bytes, sumOf }) => [
      offset,
      bytes,
      sumOf.length,
      ...sumOf.flatMap(({ seed, position, weight }) => [seed, position, weight]),
    ]),
  );

/** Writes numbers, or sums of them, into host memory. */
export async function writeNumbers(
  memory: NativeMemory,
  { dtype, sparsity }: NumberKind,
  parts: readonly NumberPart[],
): Promise<void> {
  await addon().numbers(memory, sumDtypes.indexOf(dtype), false, sparsity, encode(parts));
}

/** Compares every number in host memory, bit by bit; −0 counts as 0. */
export const compareNumbers = (
  memory: NativeMemory,
  { dtype, sparsity }: NumberKind,
  parts: readonly NumberPart[],
): Promise<Mismatch> =>
  addon().numbers(memory, sumDtypes.indexOf(dtype), true, sparsity, encode(parts));
