import { median } from '../../measure/quantile.js';
import type { Row } from '../../results/schema.js';
import { spreadOf } from './noise.js';

interface Outlier {
  readonly rank: number;
  /** Of the others' speed, for the bytes that each had to move. */
  readonly ratio: number;
  /** The ranks had different amounts to move. */
  readonly uneven: boolean;
}

interface Timed {
  readonly rank: number;
  readonly nanoseconds: number;
  /** Its share of what the busiest has to do. */
  readonly load: number;
}

const fewest = 3;
const leastEffect = -Math.log(0.85);
/** Time is not quite in proportion to bytes: buffers hide little, and many senders to one rank slow it down. */
const leastUnevenEffect = -Math.log(0.5);
const leastNoise = 0.03;
const leastSigmas = 6;

/**
 * Peers or ranks of one row that are far slower than the rest. Medians are compared, so that a moment's stall counts
 * for nothing, and the rest must agree among themselves. A row whose pairs take turns or whose ranks wait for each
 * other is no matrix: it says who, not why. Peers inside a host are compared with each other only: they have no NIC
 * between them.
 */
function outliersOf({ perPeer = [], perRank = [] }: Row, hosts: readonly string[]): Outlier[] {
  const peers = perPeer.map(({ from, to, nanoseconds }) => ({
    rank: to,
    nanoseconds: nanoseconds?.p50 ?? 0,
    load: 1,
    inside: hosts[from] === hosts[to],
  }));
  const ranks = perRank.map(({ rank, nanoseconds, load = 1 }) => ({
    rank,
    nanoseconds: nanoseconds?.p50 ?? 0,
    load,
    inside: false,
  }));
  const timed = (peers.length > 0 ? peers : ranks).filter(({ nanoseconds }) => nanoseconds > 0);
  return [true, false].flatMap((where) => slowOf(timed.filter(({ inside }) => inside === where)));
}

/**
 * The usual pace is that of nanoseconds per load: who has more to do may take longer. Whoever has little to do may have
 * to wait for the busiest, so only what takes far longer than the busiest should is slow.
 */
function slowOf(timed: readonly Timed[]): Outlier[] {
  if (timed.length < fewest) return [];
  const speedOf = ({ nanoseconds, load }: Timed) => Math.log(load) - Math.log(nanoseconds);
  const speeds = timed.filter(({ load }) => load > 0).map(speedOf);
  const center = median(speeds);
  const uneven = timed.some(({ load }) => load !== timed[0]!.load);
  const effect = uneven ? leastUnevenEffect : leastEffect;
  const rest = speeds.map((speed) => speed - center).filter((speed) => speed > -effect);
  const least = Math.max(effect, leastSigmas * Math.max(leastNoise, spreadOf(rest)));
  return timed
    .filter((one) => -Math.log(one.nanoseconds) - center <= -least)
    .map((one) => ({ rank: one.rank, ratio: Math.exp(speedOf(one) - center), uneven }));
}

/** Ranks that stand out in most rows of a column, with their ratio in the last: one row may have had a bad moment. */
export function steadyOutliers(rows: readonly Row[], hosts: readonly string[]): Outlier[] {
  const measured = rows.filter(({ nanoseconds, labels }) => nanoseconds !== null && !labels.burst);
  const found = measured.map((row) => outliersOf(row, hosts));
  return (found.at(-1) ?? []).filter(({ rank }) => {
    const often = found.filter((some) => some.some((one) => one.rank === rank)).length;
    return often > measured.length / 2;
  });
}
