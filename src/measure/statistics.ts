import { quantileSorted } from 'simple-statistics';
import { mean, type Summary } from './summary.js';

export { confidenceInterval95, percentilesOf, type Summary, summarize } from './summary.js';

/** Noise rule: spread of the middle half over the median. */
export const noisySpread = 0.25;
/** Noise rule: how far rare slow iterations may pull the mean, which the tables show, from the median. */
export const noisyMeanShift = 0.1;

/** Standard deviation over mean; undefined for a single sample. */
export function coefficientOfVariation(summary: Summary): number | undefined {
  if (summary.stddev === null || summary.mean === 0) return undefined;
  return summary.stddev / summary.mean;
}

/**
 * Whether a row should be measured again before it is believed: the middle half of its samples
 * spreads over more than 25 % of the median (below 4 samples: their whole range does), or slow
 * iterations move the mean more than 10 % from the median. A few outliers among many samples
 * satisfy neither. A single sample says nothing about noise and is not called noisy.
 */
export function isNoisy(samples: readonly number[]): boolean {
  if (samples.length < 2) return false;
  const sorted = Float64Array.from(samples).sort();
  const at = (quantile: number) => quantileSorted(sorted as unknown as number[], quantile);
  const median = at(0.5);
  if (median === 0) return sorted[sorted.length - 1]! > 0;
  const few = samples.length < 4;
  const spread = few ? sorted[sorted.length - 1]! - sorted[0]! : at(0.75) - at(0.25);
  const shift = Math.abs(mean(samples) - median);
  return spread / median > noisySpread || shift / median > noisyMeanShift;
}

/**
 * Iteration i lasts as long as on its slowest rank. Every rank gives one duration per iteration, on
 * its own clock; clocks are never subtracted from each other.
 */
export function slowestPerIteration(samplesByRank: readonly ArrayLike<number>[]): number[] {
  const [first, ...rest] = samplesByRank;
  if (first === undefined) throw new TypeError('there are no ranks');
  const slowest = Array.from(first);
  for (const samples of rest) {
    if (samples.length !== slowest.length) {
      throw new TypeError(`ranks timed ${slowest.length} and ${samples.length} iterations`);
    }
    for (let i = 0; i < slowest.length; i++) slowest[i] = Math.max(slowest[i]!, samples[i]!);
  }
  return slowest;
}
