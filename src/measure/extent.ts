/** Smallest and largest, of as many values as there are: a call takes only so many arguments. */
export function extentOf(values: Iterable<number>): readonly [low: number, high: number] {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return [low, high];
}
