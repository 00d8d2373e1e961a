import { WeftError } from '../errors.js';
import { maxWorld } from './plan.js';

/** One buffer on its way: these bytes of the source rank's source buffer, into the target rank's target buffer. */
export interface Block {
  readonly source: number;
  readonly target: number;
  /** Numbers the blocks from this source to this target: 0, 1, … */
  readonly buffer: number;
  readonly sourceOffset: number;
  readonly targetOffset: number;
  readonly bytes: number;
}

/**
 * Who sends what to whom in one iteration, before a strategy spreads it over channels. Every rank
 * can answer for every other, so plans, bounds and the verifier agree without talking.
 * Blocks are disjoint in both buffers: every byte of a target buffer has at most one writer.
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
  /** What `rank` receives: all that its target buffer must hold afterwards. */
  incoming(rank: number): readonly Block[];
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
      `${world} ranks are more than the ${maxWorld} an immediate names`,
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
