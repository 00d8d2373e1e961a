import { median, quantile } from './quantile.js';
import { mean, type Summary } from './summary.js';

export { confidenceInterval95, type Summary, summarize } from './summary.js';

/** Noise rule: spread of the middle half over the median. */
const noisySpread = 0.25;
/** Noise rule: how far rare slow iterations may pull the mean, which the tables show, from the median. */
const noisyMeanShift = 0.1;

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
  const middle = median(samples);
  if (middle === 0) return quantile(samples, 1) > 0;
  const [low, high] = samples.length < 4 ? [0, 1] : [0.25, 0.75];
  const spread = quantile(samples, high!) - quantile(samples, low!);
  const shift = Math.abs(mean(samples) - middle);
  return spread / middle > noisySpread || shift / middle > noisyMeanShift;
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
