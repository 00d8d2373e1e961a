import type { Plan } from '../plan.js';
import {
  type Block,
  blockStride,
  checkBytes,
  checkRank,
  checkWorld,
  type Traffic,
} from '../traffic.js';
import { type WritePlanOptions, writePlan } from '../write-plan.js';

/** An all-to-all in which every rank sends as many bytes to every other. */
export interface AllToAllTraffic {
  readonly world: number;
  /** Bytes from every rank to every other rank. */
  readonly bytes: number;
}

/** An all-to-all in which each pair of ranks exchanges its own number of bytes. */
export interface AllToAllMatrixTraffic {
  /** `matrix[i][j]` bytes go from rank i to rank j. */
  readonly matrix: readonly (readonly number[])[];
  /** Blocks follow each other without gaps, as in one tensor. Default: each begins a cache line. */
  readonly packed?: boolean;
}

/**
 * The block for peer p lies at p × stride of the source, the block from source s at s × stride of
 * the target. A rank's block for itself has its place in both buffers but is not sent: no fabric
 * carries it.
 */
export function allToAllTraffic({ world, bytes }: AllToAllTraffic): Traffic {
  checkWorld(world);
  checkBytes('bytes', bytes);
  const stride = blockStride(bytes);
  return exchange({
    title: 'all-to-all',
    world,
    shifted: true,
    bytesBetween: () => bytes,
    sourceOffset: (_, target) => target * stride,
    targetOffset: (source) => source * stride,
    sourceBytes: () => world * stride,
    targetBytes: () => world * stride,
  });
}

/**
 * As `allToAllTraffic`, with blocks of their own sizes one after the other, each on a cache
 * line of its own unless they are packed. A pair with no bytes still exchanges one empty message: arrivals stay uniform,
 * and the peer learns that there is nothing more.
 */
export function allToAllMatrixTraffic({ matrix, packed }: AllToAllMatrixTraffic): Traffic {
  const world = matrix.length;
  checkWorld(world);
  for (const [i, row] of matrix.entries()) {
    if (row.length !== world)
      throw new TypeError(`row ${i} of the matrix has ${row.length} columns`);
    for (const bytes of row) checkBytes(`row ${i}`, bytes);
  }
  const strideBetween = (i: number, j: number) =>
    packed ? matrix[i]![j]! : blockStride(matrix[i]![j]!);
  // Rows of `world + 1` running sums; the last one of a row is the size of the buffer.
  const sums = (strideAt: (rank: number, k: number) => number): Float64Array => {
    const all = new Float64Array(world * (world + 1));
    for (let rank = 0; rank < world; rank++) {
      for (let k = 0, at = rank * (world + 1); k < world; k++, at++) {
        all[at + 1] = all[at]! + strideAt(rank, k);
      }
    }
    return all;
  };
  const sourceSums = sums(strideBetween);
  const targetSums = sums((target, source) => strideBetween(source, target));
  return exchange({
    title: 'all-to-all matrix',
    world,
    bytesBetween: (source, target) => matrix[source]![target]!,
    sourceOffset: (source, target) => sourceSums[source * (world + 1) + target]!,
    targetOffset: (source, target) => targetSums[target * (world + 1) + source]!,
    sourceBytes: (rank) => sourceSums[rank * (world + 1) + world]!,
    targetBytes: (rank) => targetSums[rank * (world + 1) + world]!,
  });
}

interface Exchange
  extends Pick<Traffic, 'title' | 'world' | 'shifted' | 'sourceBytes' | 'targetBytes'> {
  bytesBetween(source: number, target: number): number;
  sourceOffset(source: number, target: number): number;
  targetOffset(source: number, target: number): number;
}

/** Peers in the order rank + 1, rank + 2, …: at any moment the ranks aim at different targets. */
function exchange(layout: Exchange): Traffic {
  const { title, world, shifted = false, sourceBytes, targetBytes } = layout;
  const block = (source: number, target: number): Block => ({
    source,
    target,
    buffer: 0,
    sourceOffset: layout.sourceOffset(source, target),
    targetOffset: layout.targetOffset(source, target),
    bytes: layout.bytesBetween(source, target),
  });
  const others = Array.from({ length: world - 1 }, (_, i) => i + 1);
  return {
    title,
    world,
    sequential: false,
    shifted,
    outgoing: (rank) => {
      checkRank('rank', rank, world);
      return others.map((distance) => block(rank, (rank + distance) % world));
    },
    incoming: (rank) => {
      checkRank('rank', rank, world);
      return others.map((distance) => block((rank + world - distance) % world, rank));
    },
    sourceBytes,
    targetBytes,
  };
}

/** Every rank writes one block to every other rank and waits for theirs. */
export const allToAll = (options: AllToAllTraffic & WritePlanOptions): Plan =>
  writePlan(allToAllTraffic(options), options);

/** Every rank writes `matrix[rank][peer]` bytes to every other rank and waits for theirs. */
export const allToAllMatrix = (options: AllToAllMatrixTraffic & WritePlanOptions): Plan =>
  writePlan(allToAllMatrixTraffic(options), options);
