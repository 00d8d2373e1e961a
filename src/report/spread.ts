import { percentilesOf } from '../measure/quantile.js';
import type { Row } from '../results/schema.js';

export const percentilesIn = (row: Row, percents: readonly number[]): number[] =>
  percentilesOf(row.samples, percents).map((sample) => sample / row.batch);

/** Below this a percentile is a minimum by another name. */
export const fewestSamples = 5;

/**
 * Where nine of ten iterations lie, in nanoseconds, or the interval of a prediction; undefined where the samples are too
 * few to say.
 */
export function bandOf(row: Row): readonly [number, number] | undefined {
  if (row.interval !== undefined) return row.interval;
  if (row.samples.length < fewestSamples) return undefined;
  const [low, high] = percentilesIn(row, [5, 95]);
  return [low!, high!];
}

export const gbpsAt = (row: Row, nanoseconds: number): number =>
  (row.gbps! * row.nanoseconds!.mean) / nanoseconds;
