import { median } from '../../measure/quantile.js';
import type { Row } from '../../results/schema.js';
import { spreadOf } from './noise.js';

interface Outlier {
  readonly rank: number;
  /** Of the others' speed. */
  readonly ratio: number;
}

const fewest = 3;
const leastEffect = -Math.log(0.85);
const leastNoise = 0.03;
const leastSigmas = 6;

/**
 * Peers or ranks of one row that are far slower than the rest. Medians are compared, so that a moment's stall counts
 * for nothing, and the rest must agree among themselves. A row whose pairs take turns or whose ranks wait for each
 * other is no matrix: it says who, not why.
 */
function outliersOf({ perPeer = [], perRank = [] }: Row): Outlier[] {
  const times = [
    ...perPeer.map(({ to, nanoseconds }) => ({ rank: to, ns: nanoseconds?.p50 })),
    ...(perPeer.length > 0 ? [] : perRank).map(({ rank, nanoseconds }) => ({
      rank,
      ns: nanoseconds?.p50,
    })),
  ].flatMap(({ rank, ns }) =>
    ns === undefined || ns <= 0 ? [] : [{ rank, value: -Math.log(ns) }],
  );
  if (times.length < fewest) return [];
  const center = median(times.map(({ value }) => value));
  const rest = times.map(({ value }) => value - center).filter((value) => value > -leastEffect);
  const least = Math.max(leastEffect, leastSigmas * Math.max(leastNoise, spreadOf(rest)));
  return times
    .filter(({ value }) => value - center <= -least)
    .map(({ rank, value }) => ({ rank, ratio: Math.exp(value - center) }));
}

/** Ranks that stand out in most rows of a column, with their ratio in the last: one row may have had a bad moment. */
export function steadyOutliers(rows: readonly Row[]): Outlier[] {
  const measured = rows.filter(({ nanoseconds, labels }) => nanoseconds !== null && !labels.burst);
  const found = measured.map(outliersOf);
  return (found.at(-1) ?? []).filter(({ rank }) => {
    const often = found.filter((some) => some.some((one) => one.rank === rank)).length;
    return often > measured.length / 2;
  });
}
