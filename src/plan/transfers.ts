import type { Strategy } from './strategies.js';
import type { Traffic } from './traffic.js';
import { placePieces } from './write-plan.js';

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
