import { WeftError } from '../../errors.js';
import { formatBytes } from '../../measure/units.js';
import type { ByteMatrix } from '../../plan/byte-matrix.js';
import { type AllToAllV, allToAllV } from '../../plan/collective.js';
import { allToAllMatrixTraffic } from '../../plan/patterns/all-to-all.js';
import type { Traffic } from '../../plan/traffic.js';
import { type Dtype, elementBytesOf } from './dtype.js';

/** A block of a tensor, and the number its first element holds. */
export interface NumberBlock {
  /** Who sent it, or to whom it goes. */
  readonly peer: number;
  readonly offset: number;
  readonly bytes: number;
  readonly first: number;
  /** Where it begins in its sender's tensor. */
  readonly sourceOffset: number;
}

/**
 * One all_to_all_single: who sends how much to whom, and the running numbers in it. Every rank's payload is one tensor
 * of blocks in the order of ranks, its own block among them. The numbers run on from rank to rank: where all tensors
 * have `total` elements, rank r starts at r × total.
 */
export class Exchange {
  readonly world: number;
  readonly dtype: Dtype;
  readonly elementBytes: number;
  readonly matrix: ByteMatrix;
  readonly uniform: boolean;
  /** The number with which each rank's tensor begins. */
  readonly #firsts: readonly number[];

  constructor(matrix: ByteMatrix, dtype: Dtype) {
    this.world = matrix.length;
    this.dtype = dtype;
    this.elementBytes = elementBytesOf(dtype);
    this.matrix = matrix;
    const size = matrix[0]?.[0];
    this.uniform = matrix.every((row) => row.every((bytes) => bytes === size));
    let elements = 0;
    this.#firsts = matrix.map((row) => {
      const first = elements;
      elements += sum(row) / this.elementBytes;
      return first;
    });
  }

  sendBytes(rank: number): readonly number[] {
    return this.matrix[rank]!;
  }

  receiveBytes(rank: number): readonly number[] {
    return this.matrix.map((row) => row[rank]!);
  }

  sourceBytes(rank: number): number {
    return sum(this.sendBytes(rank));
  }

  targetBytes(rank: number): number {
    return sum(this.receiveBytes(rank));
  }

  /** The most that any rank holds, sends or receives, with or without its own block. */
  busiestBytes(withOwn: boolean): number {
    const all = this.matrix.flatMap((row, rank) => {
      const own = withOwn ? 0 : row[rank]!;
      return [this.sourceBytes(rank) - own, this.targetBytes(rank) - own];
    });
    return Math.max(...all);
  }

  outgoing(rank: number): NumberBlock[] {
    return this.matrix.map((_, peer) => this.#block(rank, peer, this.#sourceOffset(rank, peer)));
  }

  incoming(rank: number): NumberBlock[] {
    let offset = 0;
    return this.matrix.map((_, peer) => {
      const block = this.#block(peer, rank, offset);
      offset += block.bytes;
      return { ...block, peer };
    });
  }

  /** As plans and bounds see it: without the blocks that ranks keep. */
  traffic(): Traffic {
    return allToAllMatrixTraffic({ matrix: this.matrix, packed: true });
  }

  /** As collective libraries see it. */
  get collective(): AllToAllV {
    return allToAllV(this.world, (from, to) => this.matrix[from]![to]!, this.elementBytes);
  }

  #sourceOffset(rank: number, peer: number): number {
    return sum(this.matrix[rank]!.slice(0, peer));
  }

  #block(source: number, target: number, offset: number): NumberBlock {
    const sourceOffset = this.#sourceOffset(source, target);
    return {
      peer: target,
      offset,
      bytes: this.matrix[source]![target]!,
      first: this.#firsts[source]! + sourceOffset / this.elementBytes,
      sourceOffset,
    };
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

export const uniformMatrix = (world: number, bytes: number): ByteMatrix =>
  Array.from({ length: world }, () => Array<number>(world).fill(bytes));

export function checkMessage(bytes: number, dtype: Dtype): void {
  const size = elementBytesOf(dtype);
  if (bytes === 0) {
    throw new WeftError('BAD_USAGE', '`msgBytes` is 0: there is nothing to exchange', {
      hint: `Use at least ${size}, the size of one ${dtype}.`,
    });
  }
  if (bytes % size === 0) return;
  const below = bytes - (bytes % size);
  const near = [below, below + size].filter((one) => one > 0).map(formatBytes);
  throw new WeftError(
    'BAD_USAGE',
    `\`msgBytes\` ${formatBytes(bytes)} is not a multiple of ${size} bytes, the size of one ${dtype}`,
    { hint: `Use ${near.join(' or ')}.` },
  );
}
