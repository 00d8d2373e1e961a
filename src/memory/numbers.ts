import { addon } from '../native/addon.js';
import type { Mismatch, NativeMemory } from '../native/memory.js';
import { elementBytesOf } from '../plan/collective.js';
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

/** How the numbers of a check are stored, and what they are: all sums of them are exact. */
export interface NumberKind {
  readonly dtype: SumDtype;
  /** They are 1 … `largest` or −1 … −`largest`: a sum that lacks one differs. */
  readonly largest: number;
  /** Of so many neighbours all but one are 0; ranks that follow each other have theirs at different places. */
  readonly sparsity: number;
}

/** Up to these, all whole numbers are exact in the type. */
const largestExact: Readonly<Record<SumDtype, number>> = {
  float32: 2 ** 24,
  int32: 2 ** 30,
  float16: 2 ** 11,
  bfloat16: 2 ** 8,
};

/** Numbers of which `addends`, or ranks with weights that add up to so many, can be added in any order without rounding. */
export function numbersFor(dtype: SumDtype, addends: number): NumberKind {
  const exact = largestExact[dtype];
  const largest = Math.max(1, Math.min(3, Math.floor(exact / addends)));
  return { dtype, largest, sparsity: 2 ** Math.max(0, Math.ceil(Math.log2(addends / exact))) };
}

const lineBytes = 64;

/** Whether all addends of a sum have a number other than 0 in every cache line of it, and in the rest of the last. */
export function hasAllInEachLine({ dtype, sparsity }: NumberKind, bytes: number): boolean {
  const shortest = bytes % lineBytes || lineBytes;
  return bytes === 0 || sparsity === 1 || sparsity * elementBytesOf(dtype) <= shortest;
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
  { dtype, largest, sparsity }: NumberKind,
  parts: readonly NumberPart[],
): Promise<void> {
  await addon().numbers(memory, sumDtypes.indexOf(dtype), false, largest, sparsity, encode(parts));
}

/** Compares every number in host memory, bit by bit; −0 counts as 0. */
export const compareNumbers = (
  memory: NativeMemory,
  { dtype, largest, sparsity }: NumberKind,
  parts: readonly NumberPart[],
): Promise<Mismatch> =>
  addon().numbers(memory, sumDtypes.indexOf(dtype), true, largest, sparsity, encode(parts));
