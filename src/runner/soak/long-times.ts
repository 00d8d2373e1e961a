import type { Stall } from '../../results/soak.js';
import { type StallLimit, stallAfterMs } from '../../settings/soak.js';
import type { LapReport } from './lap.js';

/** A time that was too long, on the clock of its loop. */
export interface Found {
  readonly during: Stall['during'];
  readonly span: { readonly atMs: number; readonly milliseconds: number };
  readonly extraMs: number;
}

/** Samples that took too long, and when they began on rank 0's clock. */
export function longSamples(
  samples: readonly number[],
  onRank0: ArrayLike<number>,
  usualNs: number,
  limit: StallLimit | undefined,
): Found[] {
  const usualMs = usualNs / 1e6;
  const allowedMs = stallAfterMs(usualMs, limit);
  const found: Found[] = [];
  let atMs = 0;
  for (const [i, sample] of samples.entries()) {
    const milliseconds = sample / 1e6;
    const extraMs = milliseconds - usualMs;
    if (extraMs >= allowedMs) {
      found.push({ during: 'iteration', span: { atMs, milliseconds }, extraMs });
    }
    atMs += onRank0[i]! / 1e6;
  }
  return found;
}

/** The barriers around a loop, where every rank that has a clock spent too long in them. */
export function longBarriers(
  reports: readonly LapReport[],
  usualNs: number,
  limit: StallLimit | undefined,
): Found[] {
  const timed = reports.filter(({ samples }) => samples.length > 0);
  const outside = timed.map(
    ({ samples, wallMs }) => wallMs - samples.reduce((sum, sample) => sum + sample, 0) / 1e6,
  );
  const extraMs = Math.min(...outside);
  // A multiple of nothing would make every barrier a stall.
  const allowedMs = Math.max(stallAfterMs(usualNs / 1e6, limit), stallAfterMs(0, undefined));
  if (!(extraMs >= allowedMs)) return [];
  const span = { atMs: 0, milliseconds: reports[0]!.wallMs };
  return [{ during: 'between', span, extraMs }];
}
