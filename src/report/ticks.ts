/** Where a logarithmic axis begins, ends and is marked: ECharts by itself marks only powers of its base's tenth power. */
export interface Ticks {
  readonly min: number;
  readonly max: number;
  readonly values: readonly number[];
}

const mostTicks = 9;

/** Powers of two, or every second, third … of them, from the smallest to the largest value. */
export function doublingTicks(values: readonly number[]): Ticks {
  const { min, max } = extent(values, 2);
  const [from, to] = [Math.ceil(Math.log2(min) - 1e-9), Math.floor(Math.log2(max) + 1e-9)];
  const stride = Math.max(1, Math.ceil((to - from + 1) / mostTicks));
  const ticks: number[] = [];
  // Counted from the largest: it is the size that readers look at first.
  for (let power = to; power >= from; power -= stride) ticks.unshift(2 ** power);
  return { min, max, values: ticks.length > 0 ? ticks : [min, max] };
}

const steps = [[1], [1, 3], [1, 2, 5], [1, 1.5, 2, 3, 5, 7]];

/** Powers of ten, with steps between them where there are few; the axis begins and ends at one of them. */
export function decadeTicks(values: readonly number[]): Ticks {
  const { min, max } = extent(values, 1.15);
  const decades = Math.log10(max / min);
  const between = steps[decades > 4 ? 0 : decades > 2.5 ? 1 : decades > 0.8 ? 2 : 3]!;
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(min)); power <= Math.ceil(Math.log10(max)); power++) {
    for (const step of between) ticks.push(rounded(step * 10 ** power));
  }
  const first = ticks.findLast((tick) => tick <= min * 1.001)!;
  const last = ticks.find((tick) => tick >= max * 0.999)!;
  return {
    min: first,
    max: last,
    values: ticks.filter((tick) => tick >= first && tick <= last),
  };
}

const rounded = (value: number): number => Number(value.toPrecision(3));

/** A single value gets room on both sides. What a logarithmic axis cannot show does not count. */
function extent(values: readonly number[], room: number): { min: number; max: number } {
  let [min, max] = [Number.POSITIVE_INFINITY, 0];
  for (const value of values) {
    if (!(value > 0 && Number.isFinite(value))) continue;
    min = Math.min(min, value);
    max = Math.max(max, value);
  }
  if (max === 0) return { min: 1, max: 10 };
  return max / min < room ? { min: rounded(min / room), max: rounded(max * room) } : { min, max };
}
