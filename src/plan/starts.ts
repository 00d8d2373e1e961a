import type { Block, Traffic } from './traffic.js';

/** The times after 0 at which blocks may leave, in nanoseconds, in order. */
export function startsOf(traffic: Traffic): number[] {
  const times = new Set<number>();
  for (let rank = 0; rank < traffic.world; rank++) {
    for (const { notBefore = 0 } of traffic.outgoing(rank)) if (notBefore > 0) times.add(notBefore);
  }
  return [...times].sort((a, b) => a - b);
}

type LateBlock = Block & { readonly notBefore: number };

/** The blocks that do not leave before a time of this rank's iteration, the latest first. */
export const lateBlocks = (traffic: Traffic, rank: number): LateBlock[] =>
  (traffic.startedBy === 'target' ? traffic.incoming(rank) : traffic.outgoing(rank))
    .filter((block): block is LateBlock => (block.notBefore ?? 0) > 0)
    .sort((a, b) => b.notBefore - a.notBefore);
