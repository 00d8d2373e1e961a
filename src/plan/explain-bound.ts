import { formatNanoseconds } from '../measure/units.js';
import { allowedLineRateGbps, boundOfTraffic, type Link } from './bound.js';
import type { Strategy } from './strategies.js';
import type { Traffic } from './traffic.js';

interface Bounded {
  readonly traffic: Traffic;
  readonly strategy: Strategy;
  readonly links: readonly Link[];
  /** Its times are those of parts of an iteration, which bytes and line rates do not bound. */
  readonly unbounded?: boolean;
}

/** The best time that the links allow, and the share of their rate that it fills. */
export function boundLines({ traffic, strategy, links, unbounded }: Bounded): string[] {
  if (unbounded) return ['  bound     none: the benchmark times round trips within an iteration'];
  const { nanoseconds, fraction } = boundOfTraffic(traffic, strategy, links);
  const allowed = strategy.allowedChannels(links.length);
  const aggregateGbps = allowedLineRateGbps(strategy, links);
  const share = fraction === undefined ? undefined : `${(fraction * 100).toFixed(1)} %`;
  const channels = `the ${allowed === 1 ? 'channel' : `${allowed} channels`} it may use`;
  const rate = aggregateGbps === undefined ? '' : ` (${Number(aggregateGbps.toFixed(2))} Gbps)`;
  const best =
    nanoseconds === undefined
      ? 'unknown: no line rate'
      : `${formatNanoseconds(nanoseconds)} at best`;
  const lines = [`  bound     ${best}`];
  if (share !== undefined) lines.push(`            ${share} of ${channels}${rate}`);
  return lines;
}
