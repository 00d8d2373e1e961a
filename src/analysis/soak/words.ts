import { formatBytes, formatDuration, plural } from '../../measure/units.js';
import type { Cause, LinkVerdict, RowVerdict, SoakVerdict } from './verdict.js';

/** `2.1 s`, `130 ms`. */
export const spanText = (milliseconds: number): string =>
  milliseconds < 999.5 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;

const two = (value: number): string => String(value).padStart(2, '0');

/** `14:03:09`, local time; with the day where the soak lasted longer than one. */
export function clockText(at: string, withDay = false): string {
  const date = new Date(at);
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
  if (!withDay) return time;
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`;
}

const ranksText = (ranks: readonly number[]): string =>
  ranks.length === 0 ? 'no rank' : `rank${ranks.length === 1 ? '' : 's'} ${ranks.join(', ')}`;

interface Place {
  readonly host: string;
  readonly nic?: string | undefined;
  readonly ranks: readonly number[];
}

/** `nic0 on h2 (rank 2)`, `rank 2 on h2`. */
const placeText = ({ host, nic, ranks }: Place): string =>
  nic === undefined ? `${ranksText(ranks)} on ${host}` : `${nic} on ${host} (${ranksText(ranks)})`;

/** Why stalls happened, as far as that is known. */
export function suspectsText({ suspects, proven }: Pick<Cause, 'suspects' | 'proven'>): string {
  const [first] = suspects;
  if (first === undefined) return 'no cause found';
  const places = suspects.map(placeText);
  const all = `${places.slice(0, -1).join(', ')}${places.length > 1 ? ' and ' : ''}${places.at(-1)}`;
  const one = suspects.length === 1;
  const lone = one && first.ranks.length === 1;
  switch (first.why) {
    case 'link-down':
      return `the ${one ? 'link' : 'links'} of ${all} ${one ? 'was' : 'were'} down${proven ? '' : ' until shortly before'}`;
    case 'not-running':
      return `${all} did not run: ${lone ? 'its process was' : 'their processes were'} stopped or got no CPU core`;
    case 'awaited':
      return `suspected: ${all}; all waiting ranks waited for ${lone || first.nic !== undefined ? 'it' : 'them'}`;
    case 'pair':
      return `suspected: ${all}; they waited for each other`;
  }
}

const mostTimes = 5;

function timesText(times: readonly string[], count: number, withDay: boolean): string {
  const shown = times.slice(0, mostTimes).map((at) => clockText(at, withDay));
  const rest = count > shown.length ? ', …' : '';
  return `at ${shown.join(', ')}${rest}`;
}

const everyText = ({ everyMs }: { readonly everyMs?: number }): string =>
  everyMs === undefined ? '' : `, about every ${formatDuration(Math.round(everyMs / 1000) * 1000)}`;

function causeText(cause: Cause, withDay: boolean): string {
  const { count, longestMs, times } = cause;
  const size = count === 1 ? `of ${spanText(longestMs)}` : `of up to ${spanText(longestMs)}`;
  const stalls = `${plural(count, 'stall')} ${size}${everyText(cause)}`;
  return `${stalls}: ${suspectsText(cause)} (${timesText(times, count, withDay)})`;
}

function linkText(link: LinkVerdict, withDay: boolean): string {
  const { downs, longestMs, stillDown, times } = link;
  const often = downs === 1 ? 'once' : `${downs} times`;
  const short = longestMs === 0 ? 'less than 0.1 s' : spanText(longestMs);
  const long = downs === 1 ? `for ${short}` : `for up to ${short}`;
  const span = stillDown && downs === 1 ? 'and was still down at the end' : long;
  const end = stillDown && downs > 1 ? ', still down at the end' : '';
  const when = timesText(times, downs, withDay);
  return `the link of ${placeText(link)} went down ${often} ${span}${end}${everyText(link)} (${when})`;
}

const dayMs = 86_400_000;

export const lastsDays = ({ startedAt, endedAt }: SoakVerdict): boolean =>
  Date.parse(endedAt) - Date.parse(startedAt) > dayMs;

/** Everything that was found, a sentence each: links first, then stalls by what they cost. */
export function soakTroubles(verdict: SoakVerdict): string[] {
  const withDay = lastsDays(verdict);
  const { count, kept } = verdict.stalls;
  return [
    ...verdict.links.map((link) => linkText(link, withDay)),
    ...(kept < count ? [`causes are known for the longest ${kept} of ${count} stalls`] : []),
    ...verdict.causes.map((cause) => causeText(cause, withDay)),
  ];
}

/** The verdict in a sentence. */
export function soakHeadline(soak: SoakVerdict): string {
  const { verdict, stalls, links, rows, intervals, benchmark, reason } = soak;
  const over = plural(intervals, 'interval');
  const longest = stalls.longest.reduce((most, one) => Math.max(most, one.milliseconds), 0);
  const flaps = links.reduce((sum, { downs }) => sum + downs, 0);
  const found = [
    ...(stalls.count > 0
      ? [`${plural(stalls.count, 'stall')}, the longest ${spanText(longest)}`]
      : []),
    ...(flaps > 0 ? [`${plural(flaps, 'link failure')}`] : []),
    ...rows.flatMap((row) =>
      row.drift?.slower ? [`${nameOf(row, rows)} became ${percentText(row.drift)} slower`] : [],
    ),
  ];
  if (verdict === 'nothing') return `${benchmark} measured nothing: ${reason}.`;
  if (verdict === 'steady')
    return `${benchmark} was steady over ${over}: no stall, no link failure.`;
  const end =
    verdict === 'failed'
      ? `${benchmark} did not pass${reason === undefined ? '' : `: ${reason}`}. `
      : '';
  return `${end}${found.length === 0 ? 'No stall' : found.join('; ')} in ${over}.`;
}

/** With its size where there are several. */
const nameOf = ({ column, bytes }: RowVerdict, all: readonly RowVerdict[]): string =>
  bytes === null || all.every((one) => one.bytes === bytes)
    ? column
    : `${column} ${formatBytes(bytes)}`;

const percentText = ({ first, last }: { first: number; last: number }): string =>
  `${((last / first - 1) * 100).toFixed(0)} %`;
