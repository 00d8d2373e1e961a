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
  /** Of the network: the bandwidth of one pair by itself. */
  readonly alone?: number;
}

/** Each rail and direction of the subject, against the control. */
export function sidesOf(suspect: Suspect, retests: readonly Retest[]): Side[] {
  const { kind, ranks } = suspect;
  if (kind === 'rail') return railSide(suspect.rail!, retests);
  if (kind === 'network') return networkSides(suspect, retests);
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

/**
 * Many pairs at once, against as many that do not pass the suspect. Of uplinks the two ways are told apart; elsewhere
 * traffic of both directions of a job goes both ways.
 */
function networkSides({ part, ranks }: Suspect, retests: readonly Retest[]): Side[] {
  const rates = (some: readonly Retest[]) => median(some.map(({ gbps }) => gbps));
  return [...new Set(retests.map(({ rail }) => rail))].flatMap((rail) => {
    const own = retests.filter((one) => one.rail === rail);
    const usual = rates(own.filter(({ control }) => control));
    const alone = own.filter((one) => one.alone);
    const subject = own.filter((one) => !one.control && !one.alone);
    return (['out', 'in'] as const).map((way): Side => {
      const some =
        part!.kind === 'uplink'
          ? subject.filter(({ from }) => ranks.includes(from) === (way === 'out'))
          : subject;
      // Without a control nothing can be said.
      const share = (of: readonly Retest[]) =>
        usual === 0 || of.length === 0 ? 1 : rates(of) / usual;
      const unknown = { latency: 1, latencyMean: 1, resent: 0, resentControl: 0 };
      return { rail, way, bandwidth: share(some), alone: share(alone), ...unknown };
    });
  });
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
