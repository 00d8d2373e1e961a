import { groupBy } from '../../measure/group.js';
import { median } from '../../measure/quantile.js';
import { rowsByKey } from '../../results/row-key.js';
import type { Row, Run } from '../../results/schema.js';
import type { LinkDown, NicTotals, Stall, Suspect } from '../../results/soak.js';
import { addTotals, type NicCount, nicCounts } from './nic-counts.js';
import { periodOf } from './period.js';

/** A row of a soak: one interval. */
export type SoakRow = Row & Required<Pick<Row, 'soak'>>;

/** What a soak found, from the rows of its run. */
export interface SoakVerdict {
  readonly schema: 'weft.soak/1';
  readonly run: string;
  readonly benchmark: string;
  readonly startedAt: string;
  readonly endedAt: string;
  /** `failed`: it did not come to its end, or bytes were wrong. `nothing`: it measured nothing. */
  readonly verdict: 'steady' | 'stalls' | 'slower' | 'failed' | 'nothing';
  /** Why it measured nothing, or why a row did not pass. */
  readonly reason?: string;
  readonly intervals: number;
  readonly rows: readonly RowVerdict[];
  /** Causes are known of the `kept` ones: the longest of each row. */
  readonly stalls: {
    readonly count: number;
    readonly kept: number;
    readonly longest: readonly Stall[];
  };
  readonly causes: readonly Cause[];
  readonly links: readonly LinkVerdict[];
  readonly nics: readonly NicCount[];
  /** Of all NICs together. */
  readonly counters: NicTotals;
  readonly tcpRetransmits: number;
  readonly errors: Run['errors'];
}

/** One column and size over all intervals; times in nanoseconds per iteration. */
export interface RowVerdict {
  readonly column: string;
  readonly bytes: number | null;
  readonly intervals: number;
  readonly iterations: number;
  readonly min: number;
  /** Median over intervals. */
  readonly p50: number;
  readonly max: number;
  /** The interval with the longest mean. */
  readonly worst: IntervalFigures;
  /** Medians of the first and of the last quarter of the intervals, where there are enough. */
  readonly drift?: { readonly first: number; readonly last: number; readonly slower: boolean };
}

export interface IntervalFigures {
  readonly at: string;
  readonly gbps: number | null;
  readonly min: number;
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

/** Stalls that have the same suspects. */
export interface Cause {
  readonly suspects: readonly Suspect[];
  readonly proven: boolean;
  readonly count: number;
  readonly totalMs: number;
  readonly longestMs: number;
  /** The first 20. */
  readonly times: readonly string[];
  readonly everyMs?: number;
}

export interface LinkVerdict {
  readonly host: string;
  readonly nic: string;
  readonly ranks: readonly number[];
  readonly downs: number;
  readonly longestMs: number;
  /** It was down at the end. */
  readonly stillDown: boolean;
  readonly times: readonly string[];
  readonly everyMs?: number;
}

const mostKept = 20;

export const isSoakRow = (row: Row): row is SoakRow =>
  row.soak !== undefined && row.nanoseconds !== null;

export const isSoak = (run: Pick<Run, 'rows'>): boolean => run.rows.some(isSoakRow);

export function soakVerdict(run: Run): SoakVerdict {
  const measured = run.rows.filter(isSoakRow);
  const rows = [...rowsByKey(measured).values()].map((all) => rowVerdict(all as SoakRow[]));
  const soaks = measured.map(({ soak }) => soak);
  const stalls = soaks.flatMap((soak) => soak.stalls);
  const links = linksOf(soaks.flatMap((soak) => soak.links));
  const count = soaks.reduce((sum, soak) => sum + soak.stallCount, 0);
  const failed = run.outcome === 'failed' || run.outcome === 'aborted';
  const bad = run.rows.find(({ outcome }) => outcome === 'failed' || outcome === 'aborted');
  const slower = rows.some(({ drift }) => drift?.slower);
  const stalled = count > 0 || links.length > 0;
  const nothing = measured.length === 0 && !failed;
  const found = stalled ? 'stalls' : slower ? 'slower' : 'steady';
  return {
    schema: 'weft.soak/1',
    run: run.id,
    benchmark: run.benchmark,
    startedAt: run.startedAt,
    endedAt: run.endedAt ?? soaks.at(-1)?.endedAt ?? run.startedAt,
    verdict: failed ? 'failed' : nothing ? 'nothing' : found,
    ...(nothing && { reason: whyNothing(run) }),
    ...(bad?.reason !== undefined && { reason: bad.reason }),
    intervals: new Set(measured.map(({ repeat }) => repeat)).size,
    rows,
    stalls: { count, kept: stalls.length, longest: longestOf(stalls) },
    causes: causesOf(stalls),
    links,
    nics: nicCounts(run),
    counters: addTotals(soaks.flatMap(({ counters }) => counters ?? [])),
    tcpRetransmits: measured.reduce((sum, { path }) => sum + (path?.tcpRetransmits ?? 0), 0),
    errors: run.errors,
  };
}

function whyNothing({ rows }: Run): string {
  const reasons = new Set(rows.flatMap(({ reason }) => reason ?? []));
  return [...reasons].join('; ') || 'it ended before its first loop';
}

function longestOf(stalls: readonly Stall[]): Stall[] {
  const longest = [...stalls].sort((a, b) => b.milliseconds - a.milliseconds).slice(0, mostKept);
  return longest.sort((a, b) => a.at.localeCompare(b.at));
}

function rowVerdict(rows: readonly SoakRow[]): RowVerdict {
  const [{ column, bytes }] = rows as [SoakRow];
  const times = rows.map((row) => row.nanoseconds!);
  const worst = rows.reduce((a, b) => (b.nanoseconds!.mean > a.nanoseconds!.mean ? b : a));
  const drift = driftOf(times.map(({ p50 }) => p50));
  return {
    column,
    bytes,
    intervals: rows.length,
    iterations: rows.reduce((sum, { iterations }) => sum + iterations, 0),
    min: times.reduce((least, { min }) => Math.min(least, min), Number.POSITIVE_INFINITY),
    p50: median(times.map(({ p50 }) => p50)),
    max: times.reduce((most, { max }) => Math.max(most, max), 0),
    worst: figuresOf(worst),
    ...(drift && { drift }),
  };
}

export function figuresOf({ soak, nanoseconds, gbps }: SoakRow): IntervalFigures {
  const { min, p50, p99, max } = nanoseconds!;
  return { at: soak.startedAt, gbps, min, p50, p99, p999: soak.p999, max };
}

const fewestInQuarter = 3;
const slowerBy = 1.1;

/** Slower where every interval of the last quarter is slower by a tenth than every one of the first. */
function driftOf(medians: readonly number[]): RowVerdict['drift'] {
  const quarter = Math.floor(medians.length / 4);
  if (quarter < fewestInQuarter) return undefined;
  const [first, last] = [medians.slice(0, quarter), medians.slice(-quarter)];
  const slower = Math.min(...last) > slowerBy * Math.max(...first);
  return { first: median(first), last: median(last), slower };
}

const every = (times: readonly string[]): { everyMs?: number } => {
  const period = periodOf(times.map((time) => Date.parse(time)));
  return period === undefined ? {} : { everyMs: period };
};

function causesOf(stalls: readonly Stall[]): Cause[] {
  const keyOf = ({ suspects, proven }: Stall) =>
    JSON.stringify([proven, suspects.map(({ host, nic, why }) => [host, nic, why])]);
  const causes = [...groupBy(stalls, keyOf).values()].map((alike): Cause => {
    const times = alike.map(({ at }) => at).sort();
    const ranksAt = (i: number) => alike.flatMap(({ suspects }) => suspects[i]!.ranks);
    const suspects = alike[0]!.suspects.map((suspect, i) => ({
      ...suspect,
      ranks: [...new Set(ranksAt(i))].sort((a, b) => a - b),
    }));
    return {
      suspects,
      proven: alike[0]!.proven,
      count: alike.length,
      totalMs: alike.reduce((sum, { milliseconds }) => sum + milliseconds, 0),
      longestMs: alike.reduce((most, { milliseconds }) => Math.max(most, milliseconds), 0),
      times: times.slice(0, mostKept),
      ...every(times),
    };
  });
  return causes.sort((a, b) => b.totalMs - a.totalMs);
}

function linksOf(links: readonly LinkDown[]): LinkVerdict[] {
  return [...groupBy(links, ({ host, nic }) => `${host} ${nic}`).values()].map((downs) => {
    const [{ host, nic, ranks }] = downs as [LinkDown];
    const times = downs.map(({ at }) => at).sort();
    return {
      ...{ host, nic, ranks, downs: downs.length },
      longestMs: downs.reduce((most, one) => Math.max(most, one.milliseconds ?? 0), 0),
      stillDown: downs.some(({ milliseconds }) => milliseconds === null),
      times: times.slice(0, mostKept),
      ...every(times),
    };
  });
}
