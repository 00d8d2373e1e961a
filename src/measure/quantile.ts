/** Quantiles of numbers. Browsers load this as well: it imports nothing. */

const sortedCopy = (values: ArrayLike<number>): Float64Array => Float64Array.from(values).sort();

/** Linear between the two nearest values; 0 if there are none. For judgements; rows report `percentilesOf`. */
export function quantile(values: ArrayLike<number>, share: number): number {
  if (values.length === 0) return 0;
  const sorted = sortedCopy(values);
  const place = (sorted.length - 1) * share;
  const low = sorted[Math.floor(place)]!;
  return low + (sorted[Math.ceil(place)]! - low) * (place - Math.floor(place));
}

export const median = (values: ArrayLike<number>): number => quantile(values, 0.5);

/** Nearest ranks, as in nccl-tests: the smallest value that at least `percent` of the values do not exceed. */
export function percentilesOf(values: ArrayLike<number>, percents: readonly number[]): number[] {
  const sorted = sortedCopy(values);
  return percents.map(
    (percent) => sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)]!,
  );
}
