import { WeftError } from '../errors.js';
import { type BufferRange, maxWorld, type PostBuffer, type SumDtype } from './plan.js';

/** One buffer on its way: these bytes of a buffer of the source rank, into the target rank's target buffer. */
export interface Block {
  readonly source: number;
  readonly target: number;
  /** Numbers the blocks from this source to this target: 0, 1, … */
  readonly buffer: number;
  /** Default: `source`. From its target buffer, the source rank passes on what it received or added. */
  readonly sourceBuffer?: PostBuffer;
  readonly sourceOffset: number;
  readonly targetOffset: number;
  readonly bytes: number;
  /** Where it lies if not in one stretch. `bytes` is their sum; the offsets above are those of the first. */
  readonly parts?: readonly BlockPart[];
  /** Channels get whole multiples of this many of its bytes; default: as the strategy splits. */
  readonly unitBytes?: number;
  /** Nanoseconds from the start of the iteration until it may leave. */
  readonly notBefore?: number;
}

/** A stretch of a block. */
export interface BlockPart {
  readonly sourceOffset: number;
  readonly targetOffset: number;
  readonly bytes: number;
}

/** Part of a rank's source buffer. */
export interface Origin {
  readonly rank: number;
  readonly offset: number;
}

/**
 * What a part of a target buffer holds after an iteration: a copy of part of a source buffer, or a sum of such parts,
 * each times its weight (default 1).
 */
export type Content = BufferRange &
  (
    | { readonly copyOf: Origin }
    | { readonly sumOf: readonly (Origin & { readonly weight?: number })[] }
  );

/**
 * Who sends what to whom in one iteration, before a strategy spreads it over channels. Every rank
 * can answer for every other, so plans, bounds and the verifier agree without talking.
 * Every byte of a target buffer has at most one writer; blocks may share bytes of a source buffer.
 */
export interface Traffic {
  readonly title: string;
  readonly world: number;
  /** Set when a block starts only after the one before it has arrived (ping-pong). */
  readonly sequential: boolean;
  /** Set when every rank sends what rank 0 sends, with source and target moved on by its number (modulo `world`). */
  readonly shifted?: boolean;
  /** What `rank` sends, in the order it posts. */
  outgoing(rank: number): readonly Block[];
  /** What `rank` receives. */
  incoming(rank: number): readonly Block[];
  /** All that the target buffer of `rank` must hold afterwards. Default: what it received, as it left its sources. */
  contents?(rank: number): readonly Content[];
  /**
   * What plans add: the parts of source buffers that hold numbers, and how much the weights of a sum are in all: as many
   * as there are addends of weight 1, or 1 with weights that are multiples of 1/16.
   */
  readonly numbers?: {
    readonly dtype: SumDtype;
    readonly weight: number;
    of(rank: number): readonly BufferRange[];
  };
  /** Whose iteration the times of blocks (`notBefore`) count from, and does not end before they have arrived; default: the source's. */
  readonly startedBy?: 'source' | 'target';
  /** Set where plans read from the source buffers of other ranks. */
  readonly readable?: boolean;
  sourceBytes(rank: number): number;
  targetBytes(rank: number): number;
}

/** Blocks start on a cache line of their own. */
const blockAlignment = 64;

/** The distance between blocks of this size in a buffer: the size, rounded up to the alignment of blocks. */
export const blockStride = (bytes: number): number =>
  Math.ceil(bytes / blockAlignment) * blockAlignment;

export function checkWorld(world: number): void {
  checkCount('world', world);
  if (world > maxWorld) {
    throw new WeftError(
      'BAD_USAGE',
      `${world} ranks are more than the ${maxWorld} that an immediate can address`,
      { hint: `Use at most ${maxWorld} ranks.` },
    );
  }
}

export function checkRank(name: string, rank: number, world: number): void {
  if (!Number.isInteger(rank) || rank < 0 || rank >= world) {
    throw new TypeError(`${name} is ${rank}, not a rank of a world of ${world}`);
  }
}

/** A whole number of at least 1. */
export function checkCount(name: string, value: number): void {
  if (!Number.isSafeInteger(value) || value < 1) {
    throw new TypeError(`${name} is ${value}, not a whole number of at least 1`);
  }
}

export function checkBytes(name: string, bytes: number): void {
  if (!Number.isSafeInteger(bytes) || bytes < 0) {
    throw new TypeError(`${name} is ${bytes}, not a number of bytes`);
  }
}

/** The stretches of a block. */
export const partsOf = (block: Block): readonly BlockPart[] => block.parts ?? [block];

/** Appends a stretch, or lengthens the last one where it adjoins that at both ends. */
export function addPart(
  parts: { sourceOffset: number; targetOffset: number; bytes: number }[],
  part: BlockPart,
): void {
  const last = parts.at(-1);
  const adjoins =
    last !== undefined &&
    last.sourceOffset + last.bytes === part.sourceOffset &&
    last.targetOffset + last.bytes === part.targetOffset;
  if (adjoins) last.bytes += part.bytes;
  else parts.push({ ...part });
}

/** What the target buffer of `rank` must hold after an iteration. */
export const contentsOf = (traffic: Traffic, rank: number): readonly Content[] =>
  traffic.contents?.(rank) ??
  traffic.incoming(rank).flatMap((block) =>
    partsOf(block).map(
      ({ sourceOffset, targetOffset, bytes }): Content => ({
        offset: targetOffset,
        bytes,
        copyOf: { rank: block.source, offset: sourceOffset },
      }),
    ),
  );

const bytesOf = (blocks: readonly Block[]): number =>
  blocks.reduce((sum, { bytes }) => sum + bytes, 0);

/** The most that a rank sends or receives. */
export function busiestBytes(traffic: Traffic): number {
  let most = 0;
  for (let rank = 0; rank < traffic.world; rank++) {
    most = Math.max(most, bytesOf(traffic.outgoing(rank)), bytesOf(traffic.incoming(rank)));
  }
  return most;
}

/** The stretches of `length` bytes from `start` on, counted along the block. */
export function partsWithin(block: Block, start: number, length: number): BlockPart[] {
  const found: BlockPart[] = [];
  let before = 0;
  for (const { sourceOffset, targetOffset, bytes } of partsOf(block)) {
    const from = Math.max(0, start - before);
    const to = Math.min(bytes, start + length - before);
    if (from < to) {
      const at = { sourceOffset: sourceOffset + from, targetOffset: targetOffset + from };
      found.push({ ...at, bytes: to - from });
    }
    before += bytes;
    if (before >= start + length) break;
  }
  return found;
}
