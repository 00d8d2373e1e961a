import { compareBlocks, type Sides, smallestSpread } from '../../measure/permutation.js';
import { median, quantile } from '../../measure/quantile.js';
import { studentPoint } from '../../measure/student.js';
import { mean } from '../../measure/summary.js';
import type { Row } from '../../results/schema.js';
import { type History, type Variation, variationOf } from './earlier-runs.js';
import type { RowOfRun, RowPair } from './row-pairs.js';

export type NoiseSource = 'blocks' | 'history' | 'unknown';

/** How much the two sides of a row differ. */
export interface Estimate {
  /** Geometric mean over runs, and in a run over repeats, of their medians per iteration. */
  readonly nanosecondsA: number;
  readonly nanosecondsB: number;
  /** Time of B over time of A. */
  readonly ratio: number;
  /** Holds the true ratio of every row at once, except at the error rate; null where the noise is not known. */
  readonly interval: readonly [low: number, high: number] | null;
  readonly noise: {
    readonly from: NoiseSource;
    /** How much a run differs from the next, as a share of the time; null where that is not known. */
    readonly spread: number | null;
    readonly earlierRuns?: number;
  };
  /** Of the permutation test over all rows; only with noise from blocks. */
  readonly p?: number;
  /** Why the row is unclear, where that is not for its width. */
  readonly reason?: string;
  /** Spread of the samples inside the runs: their middle half as a share of the median. */
  readonly sampleSpread: readonly [a: number, b: number];
}

/** Blocks against blocks. */
export function estimateFromBlocks(pairs: readonly RowPair[], errorRate: number): Estimate[] {
  const shifts = compareBlocks(pairs.map(logTimes), errorRate);
  return pairs.map((pair, i) => {
    const { p, spread, interval } = shifts[i]!;
    const noise = { from: 'blocks', spread: shareOf(spread) } as const;
    return { ...timesOf(pair), interval: ratios(interval), noise, p };
  });
}

/** What a comparison with earlier runs needs to know. */
export interface Past {
  readonly history: History;
  /** The sides that must look like their own earlier runs, with their set-ups: else the odd one may be either. */
  readonly known: readonly { readonly side: 'a' | 'b'; readonly setUp: string }[];
}

/**
 * Two single runs, with the spread between earlier runs and that of the samples inside A and B: Student's t for the
 * difference of two runs, divided among all rows. Noise may have heavier tails than t expects, so the interval is at
 * least as wide as the most by which two earlier runs differed, in whichever row that was most against its spread.
 */
export function estimateFromHistory(
  pairs: readonly RowPair[],
  past: Past,
  errorRate: number,
): Estimate[] {
  const variations = pairs.map(({ key }) => variationOf(past.history, key));
  const found = variations.filter((one) => one !== undefined);
  const widest = Math.max(0, ...found.map((one) => one.largest / widthOf(one.spread)));
  return pairs.map((pair, i) => {
    const variation = variations[i];
    if (variation === undefined) return unknownNoise(pair);
    const { spread, degrees, runs } = variation;
    const critical = Math.max(studentPoint(errorRate / found.length, degrees), widest);
    const all = Math.hypot(spread, logSpread(pair.a), logSpread(pair.b));
    const noise = { from: 'history', spread: shareOf(all), earlierRuns: runs } as const;
    const estimate = { ...withWidth(pair, critical * widthOf(all)), noise };
    const odd = past.known.find((one) => !isUsual(pair[one.side], variation, one.setUp, errorRate));
    if (odd === undefined) return estimate;
    const [low, high] = estimate.interval;
    const reason = `${odd.side.toUpperCase()} is unlike its earlier runs`;
    return { ...estimate, interval: [Math.min(low, 1), Math.max(high, 1)], reason };
  });
}

/** Standard deviation of the difference of two runs. */
const widthOf = (spread: number): number => Math.SQRT2 * (spread + smallestSpread);

/** Whether a side is where its earlier runs let one more run be expected. */
function isUsual(
  side: RowPair['a'],
  { levels, spread, degrees }: Variation,
  setUp: string,
  errorRate: number,
): boolean {
  const at = mean(side.map(logTime).filter((one) => one !== undefined));
  const point = studentPoint(errorRate, degrees);
  const own = levels.get(setUp) ?? [];
  return (
    own.length === 0 ||
    own.some(
      (level) =>
        Math.abs(at - level.mean) <=
        point * (spread + smallestSpread) * Math.sqrt(1 + 1 / level.runs),
    )
  );
}

/** Logarithmic width of the middle half of the samples. */
function logSpread(side: RowPair['a']): number {
  const samples = side
    .flat()
    .map(samplesOf)
    .filter((own) => own.length > 0);
  return median(
    samples.map((own) => Math.log(quantile(own, 0.75) / Math.max(quantile(own, 0.25), 1e-3))),
  );
}

/** The user says how much runs differ by themselves. */
export const estimateFromDrift = (pairs: readonly RowPair[], drift: number): Estimate[] =>
  pairs.map((pair) => ({
    ...withWidth(pair, Math.log1p(drift)),
    noise: { from: 'unknown', spread: null },
  }));

export const unknownNoise = (pair: RowPair): Estimate => ({
  ...timesOf(pair),
  interval: null,
  noise: { from: 'unknown', spread: null },
});

function withWidth(pair: RowPair, half: number) {
  const times = timesOf(pair);
  const middle = Math.log(times.ratio);
  return { ...times, interval: ratios([middle - half, middle + half]) };
}

const ratios = ([low, high]: readonly [number, number]): readonly [number, number] => [
  Math.exp(low),
  Math.exp(high),
];
const shareOf = (logarithm: number): number => Math.expm1(logarithm);

const samplesOf = (row: Row | undefined): number[] =>
  row?.outcome === 'passed' ? row.samples.map((sample) => sample / row.batch) : [];

const logTimes = ({ a, b }: RowPair): Sides => ({ a: a.map(logTime), b: b.map(logTime) });

/** Mean over the repeats of a run; undefined where none measured the row. */
function logTime(repeats: RowOfRun): number | undefined {
  const own = repeats.map(samplesOf).filter((samples) => samples.length > 0);
  if (own.length === 0) return undefined;
  return mean(own.map((samples) => Math.log(Math.max(1e-3, median(samples)))));
}

function timesOf(pair: RowPair) {
  const { a, b } = logTimes(pair);
  const [logA, logB] = [a, b].map((side) => mean(side.filter((one) => one !== undefined)));
  return {
    nanosecondsA: Math.exp(logA!),
    nanosecondsB: Math.exp(logB!),
    ratio: Math.exp(logB! - logA!),
    sampleSpread: [sampleSpread(pair.a), sampleSpread(pair.b)] as const,
  };
}

function sampleSpread(side: RowPair['a']): number {
  const spreads = side
    .flat()
    .map(samplesOf)
    .flatMap((samples) => {
      const middle = median(samples);
      return middle > 0 ? (quantile(samples, 0.75) - quantile(samples, 0.25)) / middle : [];
    });
  return median(spreads);
}
