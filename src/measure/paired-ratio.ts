import { median } from './quantile.js';

/** How many times as long one thing takes as another. */
export interface Ratio {
  readonly ratio: number;
  /** Holds the true ratio with at least the confidence asked for; with too few rounds for it, it is the whole range. */
  readonly interval: readonly [low: number, high: number];
}

/**
 * The median over rounds of A's time over B's, which were measured one after the other in each round. The interval is
 * between two order statistics, so that noise may have any distribution. `doubt` is the chance that it misses the true ratio.
 */
export function pairedRatio(a: readonly number[], b: readonly number[], doubt = 0.05): Ratio {
  const ratios = a.map((time, round) => time / b[round]!).sort((one, other) => one - other);
  const out = leftOut(ratios.length, doubt / 2);
  return { ratio: median(ratios), interval: [ratios[out]!, ratios.at(-1 - out)!] };
}

/** How many values on either side the interval of a median leaves out: at most so few of `count` coins show heads. */
function leftOut(count: number, chance: number): number {
  let out = 0;
  let term = 0.5 ** count * count;
  let below = 0.5 ** count + term;
  while (below <= chance) {
    out++;
    term *= (count - out) / (out + 1);
    below += term;
  }
  return out;
}
