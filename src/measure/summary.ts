/** Summaries of samples. Browsers load this as well: it imports no package. */
import { percentilesOf } from './quantile.js';

/** What a row says about its samples, in nanoseconds per iteration. */
export interface Summary {
  readonly min: number;
  readonly mean: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
  /** Of the sample (n − 1); null for a single sample, which has none. */
  readonly stddev: number | null;
  /** See `confidenceInterval95`; null for a single sample. */
  readonly ci95: readonly [number, number] | null;
}

const maxBatches = 20;

/**
 * Two-sided 95 % points of Student's t for 1 … 19 degrees of freedom: with at most 20 batches there
 * are never more.
 */
const student95 = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145,
  2.131, 2.12, 2.11, 2.101, 2.093,
] as const;

/** `samples` are durations of `batch` iterations each. Percentiles are nearest ranks, as in nccl-tests. */
export function summarize(samples: readonly number[], batch = 1): Summary {
  const times = perIteration(samples, batch);
  const [min, p50, p95, p99, max] = percentilesOf(times, [0, 50, 95, 99, 100]);
  return {
    min: min!,
    mean: mean(times),
    p50: p50!,
    p95: p95!,
    p99: p99!,
    max: max!,
    stddev: times.length < 2 ? null : sampleStandardDeviation(times),
    ci95: confidenceInterval95(times),
  };
}

function perIteration(samples: readonly number[], batch: number): number[] {
  if (samples.length === 0) throw new TypeError('there are no samples');
  if (!Number.isInteger(batch) || batch < 1) throw new TypeError(`batch is ${batch}`);
  return samples.map((sample) => {
    if (!(sample >= 0 && Number.isFinite(sample)))
      throw new TypeError(`${sample} is not a duration`);
    return sample / batch;
  });
}

/**
 * An interval that holds the true mean 95 times in 100: Student's t on the means of at most 20
 * batches of consecutive samples. Iterations that follow each other are not independent (caches,
 * schedulers, congestion); means of batches nearly are, so the interval is not flattered.
 */
export function confidenceInterval95(samples: readonly number[]): readonly [number, number] | null {
  if (samples.length < 2) return null;
  const batches = Math.min(maxBatches, samples.length);
  const means = Array.from({ length: batches }, (_, i) => {
    const from = Math.floor((i * samples.length) / batches);
    const to = Math.floor(((i + 1) * samples.length) / batches);
    return mean(samples.slice(from, to));
  });
  const center = mean(samples);
  const error = sampleStandardDeviation(means) / Math.sqrt(batches);
  const halfWidth = student95[batches - 2]! * error;
  return [center - halfWidth, center + halfWidth];
}

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** The mean of values that count as much as their weights. */
export const weightedMean = (values: readonly number[], weights: readonly number[]): number =>
  values.reduce((sum, value, i) => sum + value * weights[i]!, 0) /
  weights.reduce((sum, weight) => sum + weight, 0);

/** Of the sample (n − 1). */
function sampleStandardDeviation(values: readonly number[]): number {
  const center = mean(values);
  const squares = values.reduce((sum, value) => sum + (value - center) ** 2, 0);
  return Math.sqrt(squares / (values.length - 1));
}
