import { median } from '../../measure/quantile.js';
import type { Retest } from '../../results/finding.js';
import type { Suspect } from './suspects.js';

/** One rail and direction of a suspect, measured alone. */
export interface Side {
  readonly rail: number;
  readonly way: 'out' | 'in';
  /** Ratios to the control. */
  readonly bandwidth: number;
  readonly latency: number;
  readonly latencyMean: number;
  readonly resent: number;
  readonly resentControl: number;
}

/** Each rail and direction of the subject, against the control. */
export function sidesOf(suspect: Suspect, retests: readonly Retest[]): Side[] {
  const { kind, ranks } = suspect;
  if (kind === 'rail') return railSide(suspect.rail!, retests);
  const subject = retests.filter((one) => !one.control);
  const controls = retests.filter((one) => one.control);
  return subject.map((one) => {
    const others = comparable(one, subject, controls);
    const usual = (pick: (retest: Retest) => number) => median(others.map(pick));
    const resent = (some: readonly Retest[]) =>
      some.filter(({ rail }) => rail === one.rail).reduce((sum, r) => sum + (r.resent ?? 0), 0);
    return {
      rail: one.rail,
      way: ranks.includes(one.from) && (kind !== 'pair' || one.from === ranks[0]) ? 'out' : 'in',
      bandwidth: one.gbps / usual((r) => r.gbps),
      latency: one.latencyNanoseconds / usual((r) => r.latencyNanoseconds),
      latencyMean: one.latencyMeanNanoseconds / usual((r) => r.latencyMeanNanoseconds),
      // Both ways of a rail together: what is lost one way is sent again by the other side, too.
      resent: resent(subject),
      resentControl: resent(controls),
    };
  });
}

/** The control on the same rail; without one, the best there is. */
function comparable(one: Retest, subject: readonly Retest[], controls: readonly Retest[]) {
  const sameRail = controls.filter(({ rail }) => rail === one.rail);
  if (sameRail.length > 0) return sameRail;
  return [subject.reduce((best, next) => (next.gbps > best.gbps ? next : best))];
}

/** A rail is held against the other rails of the same pair, and is as good as its best pair: else a NIC is to blame. */
function railSide(rail: number, retests: readonly Retest[]): Side[] {
  const ratios = retests
    .filter((one) => one.rail === rail)
    .map((one) => {
      const others = retests.filter(
        (r) => r.rail !== rail && r.from === one.from && r.to === one.to,
      );
      return others.length === 0 ? 1 : one.gbps / median(others.map(({ gbps }) => gbps));
    });
  const bandwidth = Math.max(...ratios);
  const unknown = { latency: 1, latencyMean: 1, resent: 0, resentControl: 0 };
  return (['out', 'in'] as const).map((way) => ({ rail, way, bandwidth, ...unknown }));
}
