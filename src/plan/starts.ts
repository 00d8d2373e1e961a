import type { Block, Traffic } from './traffic.js';

/** More times than this are thinned out: a bound from some of them is still a bound. */
const mostStarts = 256;

/** The times after 0 at which blocks may leave, in nanoseconds, in order. */
export function startsOf(traffic: Traffic): number[] {
  const times = new Set<number>();
  for (let rank = 0; rank < traffic.world; rank++) {
    for (const { notBefore = 0 } of traffic.outgoing(rank)) if (notBefore > 0) times.add(notBefore);
  }
  const sorted = [...times].sort((a, b) => a - b);
  const step = Math.max(1, sorted.length / mostStarts);
  return sorted.filter((_, i) => Math.floor(i / step) !== Math.floor((i - 1) / step));
}

/** What does not leave before this time. */
function startingFrom(traffic: Traffic, nanoseconds: number): Traffic {
  const late = ({ notBefore = 0 }: Block) => notBefore >= nanoseconds;
  return {
    ...traffic,
    outgoing: (rank) => traffic.outgoing(rank).filter(late),
    incoming: (rank) => traffic.incoming(rank).filter(late),
  };
}

/**
 * What traffic takes at least if it takes `atOnce` where everything starts at once, and `best` says the same of parts of
 * it: what starts late does not end before it could alone.
 */
export const boundWithStarts = (
  traffic: Traffic,
  atOnce: number,
  best: (some: Traffic) => number,
): number =>
  startsOf(traffic).reduce(
    (most, start) => Math.max(most, start + best(startingFrom(traffic, start))),
    atOnce,
  );
