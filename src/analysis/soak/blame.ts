import type { Stall, Suspect } from '../../results/soak.js';
import { suspectsOfWaits, type Waits } from './waits.js';

/** What is known of the ranks' places. */
export interface Places {
  /** By rank. */
  readonly hosts: readonly string[];
  /** The NIC of each channel, by rank. */
  readonly nics: readonly (readonly string[])[];
}

/** A time span on the clock of a loop: every rank counts from the loop's first barrier. */
interface Span {
  readonly atMs: number;
  readonly milliseconds: number;
}

/** A link of a host that was down. */
export interface DownLink extends Span {
  readonly host: string;
  readonly nic: string;
}

/** A stall as it was seen, with all that was seen around it. */
export interface Case extends Places {
  /** From the start of the iteration to its end. */
  readonly span: Span;
  readonly during: Stall['during'];
  /** What the iteration took beyond the usual. */
  readonly extraMs: number;
  readonly pair?: readonly [number, number] | undefined;
  readonly waits: readonly (Waits & Span)[];
  readonly links: readonly DownLink[];
  readonly pauses: readonly (Span & { readonly rank: number })[];
}

export type Blame = Pick<Stall, 'waiting' | 'suspects' | 'proven'> & {
  /** When it began on the loop's clock, as far as that is known. */
  readonly atMs: number;
};

/** Looks at links and processes every 100 ms, and clocks of ranks begin a little apart. */
const slackMs = 250;
/** A wait or a pause explains a stall when it lasted at least this share of it. */
const tellingShare = 0.5;
const mostWaiting = 16;
const mostSuspects = 8;

/**
 * Who waited for whom, and who is to blame: proven by a link that was down or a process that did not run. A link that
 * came back before is suspected only.
 */
export function blame(stall: Case): Blame {
  const { pair, hosts, extraMs } = stall;
  const long = (span: Span) => span.milliseconds >= tellingShare * extraMs && meets(span, stall);
  const waits = stall.waits.filter((wait) => long(wait) && isTelling(wait, stall));
  const felt = stall.links.filter(
    (link) => meets(aftermath(link), stall) && isInvolved(link, stall),
  );
  const down = felt.filter((link) => meets(link, stall));
  const paused = stall.pauses.filter(long);
  const waiting = waits.slice(0, mostWaiting).map(({ rank, open }) => ({
    rank,
    for: [...new Set(open.map(({ peer }) => peer))].sort((a, b) => a - b),
  }));
  const atMs = Math.min(...waits.map((one) => one.atMs), ...paused.map((one) => one.atMs));
  const begun = { waiting, atMs: Number.isFinite(atMs) ? atMs : stall.span.atMs };
  const links = (some: readonly DownLink[]) =>
    distinct(some.map((link) => linkSuspect(link, stall)));
  if (down.length > 0) return { ...begun, suspects: links(down), proven: true };
  if (paused.length > 0) {
    const suspects = paused.map(({ rank }): Suspect => {
      return { host: hosts[rank]!, ranks: [rank], why: 'not-running' };
    });
    return { ...begun, suspects: distinct(suspects), proven: true };
  }
  if (felt.length > 0) return { ...begun, suspects: links(felt), proven: false };
  const suspects = suspectsOfWaits(waits, stall);
  if (suspects.length > 0 || pair === undefined) return { ...begun, suspects, proven: false };
  const ends = pair.map((rank): Suspect => ({ host: hosts[rank]!, ranks: [rank], why: 'pair' }));
  return { ...begun, suspects: ends, proven: false };
}

/** Retransmission timers double while a link is down: connections may stand still for as long again. */
const aftermath = (link: DownLink): Span => ({ ...link, milliseconds: 2 * link.milliseconds });

const meets = (one: Span, { span }: Case): boolean =>
  one.atMs < span.atMs + span.milliseconds + slackMs &&
  one.atMs + one.milliseconds > span.atMs - slackMs;

/** Ranks without a part in a turn wait in the barrier for as long as it takes, stall or not. */
const isTelling = ({ rank, barrier }: Waits, { during, pair }: Case): boolean =>
  !barrier || (during === 'between' && (pair === undefined || pair.includes(rank)));

/** A link of a host that has no part in the turn cannot delay it. */
const isInvolved = ({ host }: DownLink, { pair, hosts }: Case): boolean =>
  pair === undefined || pair.some((rank) => hosts[rank] === host);

const linkSuspect = ({ host, nic }: DownLink, places: Places): Suspect => ({
  host,
  ranks: ranksOf(places, host, nic),
  nic,
  why: 'link-down',
});

/** The ranks of a host that use a NIC. */
export const ranksOf = ({ hosts, nics }: Places, host: string, nic: string): number[] =>
  [...hosts.keys()].filter((rank) => hosts[rank] === host && nics[rank]?.includes(nic));

function distinct(suspects: readonly Suspect[]): Suspect[] {
  const byName = new Map(suspects.map((one) => [`${one.host} ${one.nic} ${one.ranks}`, one]));
  return [...byName.values()].slice(0, mostSuspects);
}
