import { median } from '../../measure/quantile.js';
import { mean } from '../../measure/summary.js';

/** A level needs as many values before it is believed. */
export const fewestInLevel = 4;
/** Below this nothing is said about changes. */
export const fewestValues = 2 * fewestInLevel;

/**
 * Where the level of a series changes for good: indices of the first value of each new level. Values are logarithms.
 *
 * Ranks take the place of values, so single outliers and the shape of the noise do not matter. Every interval of a
 * fixed multi-scale set is split where its halves differ most ("seeded binary segmentation"), which also finds levels
 * that pass; the clearest splits are taken first. A split counts if it is significant at about 1 in 100 series that
 * never change, and if the levels beside it differ by more than `least`.
 */
export function changePoints(values: readonly number[], least: number): number[] {
  const { length } = values;
  if (length < fewestValues) return [];
  const sums = new ScoreSums(values);
  const threshold = criticalValue(length);
  const found: Split[] = [];
  for (const [from, to] of seededIntervals(length)) {
    const split = sums.bestSplit(from, to);
    if (split.clarity > threshold) found.push(split);
  }
  found.sort((a, b) => b.clarity - a.clarity);
  const chosen: Split[] = [];
  for (const split of found) {
    if (!chosen.some(({ at }) => at > split.from && at < split.to)) chosen.push(split);
  }
  chosen.sort((a, b) => a.at - b.at);
  const likely = settled(chosen, values, sums, { threshold, least });
  if (likely.length === 0) return [];
  const drift = persistence(
    values,
    likely.map(({ at }) => at),
  );
  return settled(likely, values, sums, { threshold: threshold * drift, least }).map(({ at }) => at);
}

interface Split {
  readonly from: number;
  readonly to: number;
  readonly at: number;
  /** How clearly the sides differ, as a standard normal deviate. */
  readonly clarity: number;
}

/** Largest clarity that 99 of 100 series without a change stay below, by simulation. */
const criticalValue = (length: number): number => 1.65 + 1.69 * Math.log(Math.log(length));

/** Lengths shrink by √2 from layer to layer, and neighbours overlap by half. */
function* seededIntervals(length: number): Iterable<[from: number, to: number]> {
  for (let size = length; size >= fewestValues; size /= Math.SQRT2) {
    const count = 2 * Math.ceil(length / size) - 1;
    const shift = count === 1 ? 0 : (length - size) / (count - 1);
    for (let i = 0; i < count; i++) {
      const from = Math.floor(i * shift);
      yield [from, Math.min(length, Math.ceil(i * shift + size))];
    }
  }
}

/** Sums of scores and of their squares, so that any split costs the same. */
class ScoreSums {
  readonly #sums: Float64Array;
  readonly #squares: Float64Array;

  constructor(values: readonly number[]) {
    const scores = normalScores(values);
    this.#sums = new Float64Array(scores.length + 1);
    this.#squares = new Float64Array(scores.length + 1);
    scores.forEach((score, i) => {
      this.#sums[i + 1] = this.#sums[i]! + score;
      this.#squares[i + 1] = this.#squares[i]! + score * score;
    });
  }

  /** Where Student's t of the scores on both sides is largest. Called very often: no square roots, no lists. */
  bestSplit(from: number, to: number): Split {
    const [sums, base, length] = [this.#sums, this.#sums[from]!, to - from];
    const total = sums[to]! - base;
    const squares = this.#squares[to]! - this.#squares[from]! - (total * total) / length;
    let [best, at] = [0, from];
    for (let here = from + fewestInLevel; here <= to - fewestInLevel; here++) {
      const left = here - from;
      const excess = sums[here]! - base - (total * left) / length;
      // Of all squares, those between the sides.
      const between = (excess * excess * length) / (left * (length - left));
      if (between > best) {
        best = between;
        at = here;
      }
    }
    const within = Math.max(squares - best, 1e-9 * (squares + 1e-9));
    return { from, to, at, clarity: deviateOf(((length - 2) * best) / within, length - 2) };
  }
}

/** What values of a normal distribution with these ranks would be; equal values share their rank. */
function normalScores(values: readonly number[]): Float64Array {
  const sorted = Float64Array.from(values).sort();
  const scores = new Float64Array(values.length);
  values.forEach((value, i) => {
    const from = placeOf(sorted, value);
    let to = from + 1;
    while (sorted[to] === value) to++;
    scores[i] = normalQuantile((from + to) / 2 / values.length);
  });
  return scores;
}

/** Of the first that is not smaller. */
function placeOf(sorted: Float64Array, value: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Of the standard normal distribution, to 3 digits (Abramowitz and Stegun 26.2.23). */
function normalQuantile(share: number): number {
  const t = Math.sqrt(-2 * Math.log(Math.min(share, 1 - share)));
  const tail =
    t -
    (2.515517 + 0.802853 * t + 0.010328 * t * t) /
      (1 + 1.432788 * t + 0.189269 * t * t + 0.001308 * t ** 3);
  return share < 0.5 ? -tail : tail;
}

/** The standard normal deviate that is as improbable as Student's t, given squared (Wallace). */
const deviateOf = (tSquared: number, freedom: number): number =>
  ((8 * freedom + 1) / (8 * freedom + 3)) * Math.sqrt(freedom * Math.log1p(tSquared / freedom));

const lag = 4;

/**
 * 1 where neighbours are independent, more where the noise drifts: how much wider the mean of a stretch spreads than
 * that of independent values (of a first-order autoregression). From differences within levels, the largest two fifths left out.
 */
export function persistence(values: readonly number[], changes: readonly number[] = []): number {
  const near = typicalStep(values, changes, 1);
  if (near === 0) return 1;
  // What chance alone makes of this ratio is taken off.
  const ratio = typicalStep(values, changes, lag) / near - 2.5 / Math.sqrt(values.length);
  let factor = 0;
  while (factor < 0.9 && (1 - factor ** lag) / (1 - factor) < ratio * ratio) factor += 0.02;
  return Math.sqrt((1 + factor) / (1 - factor));
}

function typicalStep(values: readonly number[], changes: readonly number[], steps: number): number {
  const found: number[] = [];
  let next = 0;
  for (let i = 0; i + steps < values.length; i++) {
    while (next < changes.length && changes[next]! <= i) next++;
    const inLevel = next === changes.length || changes[next]! > i + steps;
    if (inLevel) found.push(Math.abs(values[i + steps]! - values[i]!));
  }
  const sorted = Float64Array.from(found).sort();
  return mean([...sorted.subarray(0, Math.ceil(0.6 * sorted.length))]);
}

/** A part of a stretch that is clear where the whole is not must be so by far: in drifting noise some part always is. */
const partPenalty = 1;

interface Limits {
  readonly threshold: number;
  readonly least: number;
}

/**
 * Each change where the whole stretch between its neighbours splits best, or where it was found if that is clearer; and
 * without those that do not stand, the weakest first.
 */
function settled(
  changes: readonly Split[],
  values: readonly number[],
  sums: ScoreSums,
  { threshold, least }: Limits,
): Split[] {
  const bounds = [0, ...changes.map(({ at }) => at), values.length];
  const judged = changes.map((part, i) => {
    const [from, to] = [bounds[i]!, bounds[i + 2]!];
    const whole = sums.bestSplit(from, to);
    const split = whole.clarity > part.clarity - partPenalty ? whole : part;
    const step = median(values.slice(split.at, to)) - median(values.slice(from, split.at));
    const clear = split === whole ? split.clarity : split.clarity - partPenalty;
    return { split, weight: Math.abs(step) > least ? clear : 0 };
  });
  const weakest = Math.min(threshold, ...judged.map(({ weight }) => weight));
  if (weakest === threshold) return judged.map(({ split }) => split);
  const gone = judged.findIndex(({ weight }) => weight === weakest);
  return settled(changes.toSpliced(gone, 1), values, sums, { threshold, least });
}
