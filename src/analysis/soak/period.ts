import { median } from '../../measure/quantile.js';

/** Events closer together than this are one. */
const oneEventMs = 2000;
const fewest = 3;
/** How far a gap may be from the period, as a share of it, and at least in milliseconds. */
const tolerance = 0.1;
const leastToleranceMs = 500;

/** At what distance events come, where that is regular: three or more, at equal distances or a multiple of them. */
export function periodOf(times: readonly number[]): number | undefined {
  const events = [...times]
    .sort((a, b) => a - b)
    .filter((time, i, all) => i === 0 || time - all[i - 1]! > oneEventMs);
  if (events.length < fewest) return undefined;
  const gaps = events.slice(1).map((time, i) => time - events[i]!);
  const period = median(gaps);
  const slack = Math.max(leastToleranceMs, tolerance * period);
  const regular = gaps.every((gap) => {
    const steps = Math.max(1, Math.round(gap / period));
    return Math.abs(gap - steps * period) <= slack;
  });
  return regular && period > 4 * slack ? period : undefined;
}
