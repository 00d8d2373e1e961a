import type { Row, Run } from '../../results/schema.js';
import { type EarlierRun, runsLike, startOf } from './earlier-runs.js';
import {
  type Estimate,
  estimateFromBlocks,
  estimateFromDrift,
  estimateFromHistory,
  type NoiseSource,
  type Past,
} from './estimate.js';
import { isComparable, pairUp, type RowPair, unmeasured } from './row-pairs.js';
import { mayShareNoise, setUpDifferences, setUpKey } from './set-up.js';
import { summaryOf } from './summary.js';

export const rowVerdicts = [
  'slower',
  'faster',
  'unclear',
  'same',
  'broken in A',
  'broken in B',
  'only in A',
  'only in B',
] as const;
/**
 * What became of a row from A to B. `slower` and `faster` are proven and more than the tolerance; `same` is proven to lie
 * within it; `unclear` is everything else that both sides measured.
 */
export type RowVerdict = (typeof rowVerdicts)[number];

type Subject = Pick<Row, 'kind' | 'column' | 'bytes' | 'labels'>;
type Unknown = { readonly [key in Exclude<keyof Estimate, 'p' | 'reason'>]: null };
/** One row of both sides; without an estimate where only one side has it, or it is broken. */
export type ComparedRow = Subject & { readonly verdict: RowVerdict; readonly reason?: string } & (
    | Estimate
    | Unknown
  );

/** Where the knowledge comes from how much runs differ by themselves. */
export interface Noise {
  readonly from: NoiseSource;
  /** Earlier runs that are like A or B, without A and B. */
  readonly earlierRuns?: number;
  /** Why earlier runs could not be read. */
  readonly unread?: string;
  /** As the user gave it, as a share. */
  readonly drift?: number;
}

/** Two sets of runs, row by row, and how far to trust the result. */
export interface Comparison {
  readonly schema: 'weft.compare/2';
  /** The largest effect, whether it is proven, and what is left open: one sentence. */
  readonly summary: string;
  readonly a: readonly string[];
  readonly b: readonly string[];
  readonly benchmark: string;
  readonly method: Method;
  /** Runs of each side. */
  readonly blocks: readonly [a: number, b: number];
  readonly noise: Noise;
  /** At most this share of comparisons of equal runs calls any row slower or faster. */
  readonly errorRate: number;
  readonly tolerance: number;
  /** A command that would decide the rows that are unclear; absent where there are none. */
  readonly settle?: string;
  /** What else differs between the sides: ranks, provider, channels. */
  readonly warnings: readonly string[];
  readonly rows: readonly ComparedRow[];
}

/**
 * `in turns`: runs of both sides alternate in time, so whatever the machine did it did to both. `apart`: several runs per
 * side, but one side after the other. `single`: not even that.
 */
export type Method = 'in turns' | 'apart' | 'single';

export const fewestBlocks = 5;
export const defaultTolerance = 0.05;
export const defaultErrorRate = 0.01;

/** How large a change must be to count, and what is known about noise. */
export interface CompareOptions {
  /** Rows that differ by no more than this are the same. */
  readonly tolerance?: number;
  /** How much runs differ by themselves, as a share. Overrides blocks and history. */
  readonly drift?: number | undefined;
  /** Runs of the past; those unlike A and B, and those made later, are passed over. */
  readonly history?: readonly EarlierRun[];
  /** Why there is no history. */
  readonly unreadHistory?: string;
  readonly errorRate?: number;
  /** What follows `weft ab` in the command that measures both sides in turns. */
  readonly abWords?: string;
}

/** Compares runs of one benchmark. Every run is one block: repeats in a run share its luck. */
export function compareRuns(
  a: readonly Run[],
  b: readonly Run[],
  options: CompareOptions = {},
): Comparison {
  const { tolerance = defaultTolerance, errorRate = defaultErrorRate, abWords } = options;
  const method = methodOf(a, b);
  const pairs = pairUp(a, b);
  const { noise, estimates } = estimate(pairs.filter(isComparable), method, [a, b], options);
  let next = 0;
  const rows = pairs.map((pair): ComparedRow => {
    const { kind, column, bytes, labels } = pair.row;
    const subject = { kind, column, bytes, labels };
    if (!isComparable(pair)) return { ...subject, ...unmeasured(pair), ...nothing };
    const { reason, ...own } = estimates[next++]!;
    const verdict = verdictOf(own, tolerance);
    const why = verdict === 'unclear' && reason !== undefined ? { reason } : {};
    return { ...subject, verdict, ...own, ...why };
  });
  const { benchmark } = a[0]!;
  const unclear = rows.some(({ verdict }) => verdict === 'unclear');
  const words = abWords ?? `--a '…' --b '…' -- ${benchmark} …`;
  const comparison = {
    schema: 'weft.compare/2' as const,
    a: a.map((run) => run.id),
    b: b.map((run) => run.id),
    benchmark,
    method,
    blocks: [a.length, b.length] as const,
    noise,
    errorRate,
    tolerance,
    ...(unclear && { settle: `weft ab ${moreRounds(rows, method, a.length)}${words}` }),
    warnings: setUpDifferences(a[0]!, b[0]!),
    rows,
  };
  return { ...comparison, summary: summaryOf(comparison) };
}

const nothing = {
  ...{ nanosecondsA: null, nanosecondsB: null, ratio: null, interval: null },
  ...{ noise: null, sampleSpread: null },
};

function estimate(
  pairs: readonly RowPair[],
  method: Method,
  sides: readonly [a: readonly Run[], b: readonly Run[]],
  { drift, history = [], unreadHistory: unread, errorRate = defaultErrorRate }: CompareOptions,
): { noise: Noise; estimates: Estimate[] } {
  if (drift !== undefined) {
    return { noise: { from: 'unknown', drift }, estimates: estimateFromDrift(pairs, drift) };
  }
  if (method === 'in turns') {
    return { noise: { from: 'blocks' }, estimates: estimateFromBlocks(pairs, errorRate) };
  }
  const past = pastOf(history, sides);
  const earlierRuns = [...past.history.values()].flat().length;
  const estimates = estimateFromHistory(pairs, past, errorRate);
  const from = estimates.some(({ noise }) => noise.from === 'history') ? 'history' : 'unknown';
  return { noise: { from, earlierRuns, ...(unread !== undefined && { unread }) }, estimates };
}

/** Of two runs of one set-up the later may be the odd one; runs of two set-ups must each be as usual. */
function pastOf(
  history: readonly EarlierRun[],
  sides: readonly [a: readonly Run[], b: readonly Run[]],
): Past {
  const [a, b] = sides;
  const setUps = { a: setUpKey(a[0]!), b: setUpKey(b[0]!) };
  const first = startOf(a) < startOf(b) ? ('a' as const) : ('b' as const);
  return {
    history: runsLike(history, sides),
    setUps,
    usual: setUps.a === setUps.b ? [first] : ['a', 'b'],
    shared: mayShareNoise(a[0]!, b[0]!),
  };
}

function methodOf(a: readonly Run[], b: readonly Run[]): Method {
  if (Math.min(a.length, b.length) < fewestBlocks) return 'single';
  return inTurns(a, b) ? 'in turns' : 'apart';
}

/** Never more than two runs of a side without one of the other between. */
function inTurns(a: readonly Run[], b: readonly Run[]): boolean {
  const sides = [...a.map((run) => ({ run, side: 'A' })), ...b.map((run) => ({ run, side: 'B' }))]
    .sort((one, other) => one.run.startedAt.localeCompare(other.run.startedAt))
    .map(({ side }) => side)
    .join('');
  return !/AAA|BBB/.test(sides);
}

function verdictOf({ ratio, interval }: Estimate, tolerance: number): RowVerdict {
  if (interval === null) return 'unclear';
  const [low, high] = interval;
  const most = 1 + tolerance;
  if (low > 1 && ratio > most) return 'slower';
  // As much faster as the tolerance is slower: the ratio turned round.
  if (high < 1 && ratio < 1 / most) return 'faster';
  return low >= 1 / most && high <= most ? 'same' : 'unclear';
}

/** So many rounds would narrow the intervals enough, as they shrink with the square root; at least a few more. */
function moreRounds(rows: readonly ComparedRow[], method: Method, rounds: number): string {
  if (method !== 'in turns') return '';
  const factors = rows.flatMap(({ verdict, ratio, interval }) => {
    if (verdict !== 'unclear' || interval === null) return [];
    const half = Math.log(interval[1] / interval[0]) / 2;
    return (half / Math.max(Math.abs(Math.log(ratio)), half / 3)) ** 2;
  });
  const wanted = Math.ceil(rounds * Math.max(1.5, ...factors));
  return `--rounds ${Math.min(mostRounds, wanted)} `;
}
const mostRounds = 50;

export const isOnBothSides = (verdict: RowVerdict): boolean =>
  verdict !== 'only in A' && verdict !== 'only in B';

/** Whether the row looks slower than the tolerance allows without being proven to be. */
export const looksSlower = (
  { verdict, ratio }: ComparedRow,
  { tolerance }: Pick<Comparison, 'tolerance'>,
): boolean => verdict === 'unclear' && ratio! > 1 + tolerance;

/** Whether B falls short of A anywhere; with `strict` also where it only looks so. */
export const isWorse = (comparison: Comparison, { strict = false } = {}): boolean =>
  comparison.rows.some(
    (row) =>
      row.verdict === 'slower' ||
      row.verdict === 'broken in B' ||
      (strict && looksSlower(row, comparison)),
  );
