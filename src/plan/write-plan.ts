import { WeftError } from '../errors.js';
import {
  maxSlot,
  type Plan,
  planVersion,
  type Step,
  type WaitStep,
  type WriteStep,
} from './plan.js';
import type { Piece, Strategy } from './strategies.js';
import { type Block, checkCount, checkRank, partsWithin, type Traffic } from './traffic.js';

/** How a plan is executed; the same on every rank of a run. */
export interface Pacing {
  readonly chunkBytes?: number;
  readonly window?: number;
}

/** For which rank, over which channels and in which chunks writes are planned. */
export interface WritePlanOptions extends Pacing {
  readonly rank: number;
  readonly channels: number;
  readonly strategy: Strategy;
}

/** Measured choices belong to the caller; these only work everywhere. */
export const defaultChunkBytes = 2 ** 20;
export const defaultWindow = 16;

/** A piece of a block, with everything both sides derive about it. */
export interface PlacedPiece extends Piece {
  readonly channel: number;
  readonly slot: number;
}

export function pacingOf({ chunkBytes = defaultChunkBytes, window = defaultWindow }: Pacing) {
  checkCount('chunkBytes', chunkBytes);
  checkCount('window', window);
  return { chunkBytes, window };
}

/**
 * Slots number the pieces from one source to one target, so (source, slot) names one piece there;
 * towards another target the same slots are used again.
 */
export function placePieces(block: Block, strategy: Strategy, channels: number): PlacedPiece[] {
  const firstSlot = block.buffer * strategy.maxPieces(channels);
  const { source: rank, target: peer, buffer } = block;
  return strategy.split(block.bytes, channels, block.unitBytes).map(({ offset, bytes }, piece) => {
    const slot = firstSlot + piece;
    if (slot > maxSlot) throw tooManyBuffers(strategy, channels);
    const channel = strategy.channelOf({ rank, peer, buffer, piece, channels });
    return { offset, bytes, channel, slot };
  });
}

function tooManyBuffers(strategy: Strategy, channels: number): WeftError {
  const most = Math.floor((maxSlot + 1) / strategy.maxPieces(channels));
  return new WeftError('BAD_USAGE', `an immediate can number only ${most} buffers per peer`, {
    hint: `Use at most ${most} buffers per peer with ${strategy.title} over ${channels} channels.`,
  });
}

/** The plan of one rank for traffic made of writes: post everything at once, wait for everything. */
export function writePlan(traffic: Traffic, options: WritePlanOptions): Plan {
  const { rank, channels, strategy } = options;
  checkRank('rank', rank, traffic.world);
  checkCount('channels', channels);
  const writes = traffic
    .outgoing(rank)
    .flatMap((block) => placePieces(block, strategy, channels).map((one) => writeOf(block, one)));
  const waits = traffic
    .incoming(rank)
    .flatMap((block) => placePieces(block, strategy, channels).map((one) => waitFor(block, one)));
  return planFor(traffic, options, [...writes, ...waits]);
}

/** The plan of one rank that takes these steps. */
export const planFor = (
  traffic: Pick<Traffic, 'world' | 'sourceBytes' | 'targetBytes'>,
  options: Pacing & { readonly rank: number; readonly channels: number },
  steps: readonly Step[],
): Plan => ({
  version: planVersion,
  rank: options.rank,
  world: traffic.world,
  channels: options.channels,
  ...pacingOf(options),
  delivery: 'complete',
  sourceBytes: traffic.sourceBytes(options.rank),
  targetBytes: traffic.targetBytes(options.rank),
  steps,
});

/** The step with which the block's source sends a piece of it. */
export function writeOf(block: Block, piece: PlacedPiece): WriteStep {
  const { channel, slot, bytes } = piece;
  const { sourceOffset, targetOffset, parts } = placeOf(block, piece);
  const step: WriteStep = {
    kind: 'post',
    op: 'write',
    channel,
    peer: block.target,
    local: { buffer: block.sourceBuffer ?? 'source', offset: sourceOffset, bytes },
    remote: { offset: targetOffset },
    slot,
    after: [],
  };
  if (!parts) return step;
  const each = parts.map((one) => ({
    local: one.sourceOffset,
    remote: one.targetOffset,
    bytes: one.bytes,
  }));
  return { ...step, parts: each };
}

/** The step with which the block's target waits for a piece of it. */
export function waitFor(block: Block, piece: PlacedPiece): WaitStep {
  const { channel, slot, bytes } = piece;
  const { targetOffset: offset, parts } = placeOf(block, piece);
  const { source } = block;
  const step: WaitStep = { kind: 'wait', channel, source, slot, offset, bytes, after: [] };
  if (!parts) return step;
  return { ...step, parts: parts.map((one) => ({ offset: one.targetOffset, bytes: one.bytes })) };
}

/** Where a piece begins, and its parts if it has several. Large plans have millions of pieces: most are one stretch. */
function placeOf(block: Block, { offset, bytes }: PlacedPiece) {
  if (!block.parts) {
    const { sourceOffset, targetOffset } = block;
    return {
      sourceOffset: sourceOffset + offset,
      targetOffset: targetOffset + offset,
      parts: undefined,
    };
  }
  const parts = partsWithin(block, offset, bytes);
  const { sourceOffset, targetOffset } = parts[0] ?? block;
  return { sourceOffset, targetOffset, parts: parts.length > 1 ? parts : undefined };
}

/**
 * The writes of a rank's `writePlan`, grouped by the block they carry: what one request asks for. Indices of steps, by
 * transfer, in the order of the traffic's blocks.
 */
export function transfersOf(
  traffic: Traffic,
  rank: number,
  strategy: Strategy,
  channels: number,
): number[][] {
  let next = 0;
  return traffic
    .outgoing(rank)
    .map((block) => placePieces(block, strategy, channels).map(() => next++));
}
