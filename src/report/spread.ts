import type { Row } from '../results/schema.js';

/** Nearest ranks of the samples, per iteration. */
export function quantiles(row: Row, shares: readonly number[]): number[] {
  const sorted = Float64Array.from(row.samples).sort();
  return shares.map(
    (share) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]! / row.batch,
  );
}

/** Below this a percentile is a minimum by another name. */
export const fewestSamples = 5;

/** Where nine of ten iterations lie, in nanoseconds; undefined where the samples are too few to say. */
export function middle90(row: Row): readonly [number, number] | undefined {
  if (row.samples.length < fewestSamples) return undefined;
  const [low, high] = quantiles(row, [0.05, 0.95]);
  return [low!, high!];
}

/** A row's rate if every iteration took this long. */
export const gbpsAt = (row: Row, nanoseconds: number): number =>
  (row.gbps! * row.nanoseconds!.mean) / nanoseconds;
