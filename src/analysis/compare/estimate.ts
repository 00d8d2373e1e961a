import { compareBlocks, type Sides, smallestSpread } from '../../measure/permutation.js';
import { median, quantile } from '../../measure/quantile.js';
import { studentPoint } from '../../measure/student.js';
import { mean } from '../../measure/summary.js';
import type { Row } from '../../results/schema.js';
import { type History, pooled, type Variation, variationOf } from './earlier-runs.js';
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

type SideName = 'a' | 'b';

/** What a comparison of runs that did not alternate needs to know. */
export interface Past {
  readonly history: History;
  readonly setUps: Readonly<Record<SideName, string>>;
  /** The sides that must look like their own earlier runs: else the odd one may be either. */
  readonly usual: readonly SideName[];
  /** Whether a side without earlier runs may have the noise of the other. */
  readonly shared: boolean;
}

/**
 * Runs that did not alternate, with the spread between runs of their set-ups and that of the samples inside A and B:
 * Student's t for the difference of two single runs, divided among all rows. Means of several runs get no narrower
 * interval: runs made one after the other share the state of the machine. Noise may have heavier tails than t expects,
 * so the interval is at least as wide as the most by which two runs of a set-up differed, in whichever row that was most
 * against its spread.
 */
export function estimateFromHistory(
  pairs: readonly RowPair[],
  past: Past,
  errorRate: number,
): Estimate[] {
  const variations = pairs.map((pair) => {
    const { a, b } = logTimes(pair);
    return variationOf(past.history, pair.key, [known(a), known(b)]);
  });
  const found = variations.filter((one) => one !== undefined);
  const widest = Math.max(0, ...found.map((one) => one.largest / widthOf(one.spread)));
  return pairs.map((pair, i) => {
    const variation = variations[i];
    if (variation === undefined) return unknownNoise(pair);
    const stranger = past.shared ? undefined : strangerOf(pair, past, variation);
    if (stranger !== undefined) {
      const reason = `${stranger.toUpperCase()} has fewer than ${fewestOwn} runs of its set-up, and the other side has another provider or other hosts`;
      return { ...unknownNoise(pair), reason };
    }
    const { spread, degrees, runs } = variation;
    const critical = Math.max(studentPoint(errorRate / found.length, degrees), widest);
    const between = Math.max(spread, repeatSpread(pair));
    const all = Math.hypot(between, logSpread(pair.a), logSpread(pair.b));
    const noise = { from: 'history', spread: shareOf(all), earlierRuns: runs } as const;
    const estimate = { ...withWidth(pair, critical * widthOf(all)), noise };
    const odd = past.usual.find(
      (side) => !isUsual(pair[side], variation, past.setUps[side], errorRate),
    );
    if (odd === undefined) return estimate;
    const [low, high] = estimate.interval;
    const reason = `${odd.toUpperCase()} differs from its own earlier runs`;
    return { ...estimate, interval: [Math.min(low, 1), Math.max(high, 1)], reason };
  });
}

/** Standard deviation of the difference of two runs. */
const widthOf = (spread: number): number => Math.SQRT2 * (spread + smallestSpread);

/** A side with so many runs of its set-up says itself what is usual. */
const fewestOwn = 3;

const known = (values: readonly (number | undefined)[]): number[] =>
  values.filter((value) => value !== undefined);

/** A side of which nobody knows how much its runs differ. */
const strangerOf = (pair: RowPair, { setUps }: Past, { levels }: Variation) =>
  (['a', 'b'] as const).find((side) => {
    const earlier = (levels.get(setUps[side]) ?? []).map(({ runs }) => runs);
    return Math.max(pair[side].length, ...earlier) < fewestOwn;
  });

/** Standard deviation between the repeats of a run. Runs differ at least as much. */
const repeatSpread = ({ a, b }: RowPair): number =>
  pooled([...a, ...b].map((repeats) => known(repeats.map((row) => logTime([row]))))).spread;

/** Whether a side is where its earlier runs let one more run be expected. */
function isUsual(
  side: RowPair['a'],
  { levels, spread, degrees }: Variation,
  setUp: string,
  errorRate: number,
): boolean {
  const earlier = levels.get(setUp) ?? [];
  if (earlier.length === 0 || side.length >= fewestOwn) return true;
  const at = mean(known(side.map(logTime)));
  const point = studentPoint(errorRate, degrees);
  return earlier.some(
    (level) =>
      Math.abs(at - level.mean) <=
      point * (spread + smallestSpread) * Math.sqrt(1 + 1 / level.runs),
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

const unknownNoise = (pair: RowPair): Estimate => ({
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
  const [logA, logB] = [a, b].map((side) => mean(known(side)));
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
