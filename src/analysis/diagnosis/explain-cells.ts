import { median, quantile } from '../../measure/quantile.js';
import { type Cause, causesOf } from './causes.js';
import type { Cell, Places } from './cells.js';
import { noiseOf, spreadOf } from './noise.js';

/** What counts as bad in a metric; logarithms. */
export interface Rule {
  /** Cells differ by this much in good health, however quiet the measurement. */
  readonly leastNoise: number;
  /** What is less is not worth a word. */
  readonly leastEffect: number;
}

/** A cause with what it does to its cells. */
export interface Explanation {
  readonly cause: Cause;
  /** Logarithm, negative. */
  readonly effect: number;
  /** In units of the noise of one cell. */
  readonly sigmas: number;
  /** Share of its cells that show at least half of the effect. */
  readonly consistency: number;
}

interface Fit {
  readonly chosen: readonly Explanation[];
  readonly cost: number;
  /** Of what the causes leave unexplained. */
  readonly spread: number;
}

const mostCauses = 12;
const mostRounds = 4;
const leastSigmas = 4;
const leastConsistency = 0.75;
const leastOf = (noise: number, rule: Rule): number =>
  Math.max(rule.leastEffect, leastSigmas * noise);
/** The price of a cause: of many that could be blamed one fits by chance. */
const priceOf = (candidates: number): number => 4 + Math.log(Math.max(1, candidates));
/** What healthy cells look like: half of them may be bad, or nearly all. */
const references = [0.5, 0.75, 0.95];

/**
 * The fewest causes that explain why some cells are worse than others. Each reference (what is healthy) is tried; for
 * each, the cause that explains most is taken, then the next, as long as what it explains is more than its price. The
 * reference and causes with the least left unexplained win. So one slow host is one cause and not a slow pair for
 * each of its peers, and a matrix that is merely noisy has none.
 */
export function explainCells(cells: readonly Cell[], places: Places, rule: Rule): Explanation[] {
  const inside = ({ from, to }: Cell) => places.hosts[from] === places.hosts[to];
  // Inside a host bytes take another way: neither is a measure for the other.
  return [cells.filter(inside), cells.filter((cell) => !inside(cell))].flatMap((some) =>
    some.length < 2 ? [] : bestFit(some, places, rule),
  );
}

function bestFit(cells: readonly Cell[], places: Places, rule: Rule): readonly Explanation[] {
  const values = cells.map((cell) => cell.value);
  const tried = references.map((share) => {
    const reference = quantile(values, share);
    return values.map((value) => value - reference);
  });
  let noise = noiseOf(cells, rule.leastNoise);
  const least = leastOf(noise, rule);
  const bad = (index: number) => tried.some((deviations) => deviations[index]! <= -least);
  // The usual case, and far quicker than to ask every cause.
  if (!values.some((_, index) => bad(index))) return [];
  const candidates = causesOf(cells, places, bad);
  for (let round = 1; ; round++) {
    const fits = tried.map((deviations) => fit(deviations, candidates, noise, rule));
    const best = fits.reduce((least, next) => (next.cost < least.cost ? next : least));
    // What is left is noise by definition: if it is more than was thought, causes were seen in noise.
    if (best.spread <= noise * 1.05 || round === mostRounds) return best.chosen;
    noise = best.spread;
  }
}

function fit(
  deviations: readonly number[],
  { causes, candidates }: ReturnType<typeof causesOf>,
  noise: number,
  rule: Rule,
): Fit {
  const price = priceOf(candidates);
  // Of two causes of one cell the worse is felt, as the slowest part of a way is.
  const predicted = deviations.map(() => 0);
  const chosen: Explanation[] = [];
  while (chosen.length < mostCauses) {
    const next = bestCause(deviations, predicted, causes, noise, rule);
    if (next === undefined || next.gain <= price) break;
    for (const index of next.cause.cells) {
      predicted[index] = Math.min(predicted[index]!, next.effect);
    }
    chosen.push(next);
  }
  const left = deviations.map((deviation, i) => Math.abs(deviation - predicted[i]!));
  const cost = left.reduce((sum, one) => sum + one, 0) / noise + price * chosen.length;
  return { chosen, cost, spread: spreadOf(left) };
}

function bestCause(
  deviations: readonly number[],
  predicted: readonly number[],
  causes: readonly Cause[],
  noise: number,
  rule: Rule,
): (Explanation & { gain: number }) | undefined {
  let best: (Explanation & { gain: number }) | undefined;
  const least = leastOf(noise, rule);
  for (const cause of causes) {
    // Nearly all causes of a large world end here: no cell is bad.
    if (!cause.cells.some((i) => deviations[i]! <= -least)) continue;
    // What another cause explains already says nothing about this one.
    const open = cause.cells.filter((i) => predicted[i]! >= 0 || deviations[i]! < predicted[i]!);
    if (open.length === 0) continue;
    const effect = median(open.map((i) => deviations[i]!));
    if (effect > -least) continue;
    const shown = cause.cells.filter((i) => deviations[i]! <= effect / 2).length;
    const consistency = shown / cause.cells.length;
    if (consistency < leastConsistency) continue;
    const gain =
      cause.cells.reduce((sum, i) => {
        const after = Math.min(predicted[i]!, effect);
        return sum + Math.abs(deviations[i]! - predicted[i]!) - Math.abs(deviations[i]! - after);
      }, 0) / noise;
    if (best === undefined || gain > best.gain * 1.0001) {
      best = { cause, effect, sigmas: -effect / noise, consistency, gain };
    }
  }
  return best;
}
