import { fabricName } from '../../results/fabric-name.js';
import { rowsByKey } from '../../results/row-key.js';
import type { Row, Run } from '../../results/schema.js';
import { judgeApart, judgeInTurns, type Measured } from './judge.js';

export const changes = [
  'slower',
  'faster',
  'same',
  'broken in A',
  'broken in B',
  'only in A',
  'only in B',
] as const;
/** What became of a row from one run to the other. */
export type Change = (typeof changes)[number];

/** One row of both sides. Times are medians per iteration. */
export interface ComparedRow {
  readonly row: Pick<Row, 'kind' | 'column' | 'bytes' | 'labels'>;
  readonly change: Change;
  readonly nanosecondsA: number | null;
  readonly nanosecondsB: number | null;
  /** Time of B over time of A, less 1: 0.1 is 10 % slower. */
  readonly effect: number | null;
  /** Probability of such a difference anywhere in the table if nothing had changed. */
  readonly p: number | null;
  /** Why a row failed, or was skipped, on a side. */
  readonly reason?: string;
}

/** Two sets of runs, row by row, and how far to trust the result. */
export interface Comparison {
  readonly schema: 'weft.compare/1';
  readonly a: readonly string[];
  readonly b: readonly string[];
  readonly benchmark: string;
  readonly method: Method;
  readonly blocks: readonly [a: number, b: number];
  /** Differences up to this are called the same. */
  readonly tolerance: number;
  /** What else differs between the sides: ranks, provider, channels. */
  readonly warnings: readonly string[];
  readonly rows: readonly ComparedRow[];
}

/**
 * `in turns`: runs of both sides alternate in time, so whatever the machine did it did to both. `apart`: several blocks
 * a side, but one side after the other. `single`: not even that.
 */
export type Method = 'in turns' | 'apart' | 'single';

/** What the same thing may differ by at another time, or on another connection, as seen on a shared machine. */
const driftOf: Readonly<Record<Method, number>> = { 'in turns': 0, apart: 0.5, single: 9 };
export const fewestBlocks = 5;
export const defaultTolerance = 0.05;

/** How large a change must be to count. */
export interface CompareOptions {
  /** Differences up to this are called the same. */
  readonly tolerance?: number;
  /** How much this machine differs by itself; default: `driftOf` the method. */
  readonly drift?: number | undefined;
}

/** Compares runs of one benchmark. Every repeat in every run of a side is a block. */
export function compareRuns(
  a: readonly Run[],
  b: readonly Run[],
  { tolerance = defaultTolerance, drift }: CompareOptions = {},
): Comparison {
  const [blocksA, blocksB] = [a.flatMap(blocksOf), b.flatMap(blocksOf)];
  const method = methodOf(a, b, Math.min(blocksA.length, blocksB.length));
  const pairs = pairUp(blocksA, blocksB);
  const measured = pairs.flatMap(({ measured }) => (measured ? [measured] : []));
  const least = Math.max(tolerance, method === 'in turns' ? 0 : (drift ?? driftOf[method]));
  const judge = method === 'in turns' ? judgeInTurns : judgeApart;
  const judged = judge(measured, least);
  let next = 0;
  return {
    schema: 'weft.compare/1',
    a: a.map((run) => run.id),
    b: b.map((run) => run.id),
    benchmark: a[0]!.benchmark,
    method,
    blocks: [blocksA.length, blocksB.length],
    tolerance: least,
    warnings: setUpDifferences(a[0]!, b[0]!),
    rows: pairs.map((pair) =>
      pair.measured ? { row: subjectOf(pair.row), ...judged[next++]! } : unmeasured(pair),
    ),
  };
}

function methodOf(a: readonly Run[], b: readonly Run[], blocks: number): Method {
  if (blocks < fewestBlocks) return 'single';
  return Math.min(a.length, b.length) >= fewestBlocks && inTurns(a, b) ? 'in turns' : 'apart';
}

/** Never more than two runs of a side without one of the other between. */
function inTurns(a: readonly Run[], b: readonly Run[]): boolean {
  const sides = [...a.map((run) => ({ run, side: 'A' })), ...b.map((run) => ({ run, side: 'B' }))]
    .sort((one, other) => one.run.startedAt.localeCompare(other.run.startedAt))
    .map(({ side }) => side)
    .join('');
  return !/AAA|BBB/.test(sides);
}

type Block = ReadonlyMap<string, Row>;

/** A run's repeats, or the run as one block. */
function blocksOf(run: Run): Block[] {
  const repeats = new Set(run.rows.map((row) => row.repeat ?? 0));
  return [...repeats].map((repeat) => {
    const rows = run.rows.filter((row) => (row.repeat ?? 0) === repeat);
    return new Map([...rowsByKey(rows)].map(([key, [row]]) => [key, row!]));
  });
}

interface Pair {
  readonly row: Row;
  readonly a: readonly (Row | undefined)[];
  readonly b: readonly (Row | undefined)[];
  readonly measured: Measured | undefined;
}

function pairUp(blocksA: readonly Block[], blocksB: readonly Block[]): Pair[] {
  const keys = new Set([...blocksA, ...blocksB].flatMap((block) => [...block.keys()]));
  const pairs = [...keys].map((key) => {
    const a = blocksA.map((block) => block.get(key));
    const b = blocksB.map((block) => block.get(key));
    const row = [...a, ...b].find((one) => one !== undefined)!;
    const both = [a, b].every((side) => isEnough(side) && !side.some(isBroken));
    return { row, a, b, measured: both ? { a, b } : undefined };
  });
  // What neither side measured says nothing of either.
  return pairs.filter(({ a, b }) => [...a, ...b].some((row) => isMeasured(row) || isBroken(row)));
}

/** A row that half of the blocks do not have says too little of that side. */
const isEnough = (side: readonly (Row | undefined)[]): boolean =>
  side.filter(isMeasured).length * 2 > side.length;
const isMeasured = (row: Row | undefined): boolean =>
  row?.outcome === 'passed' && row.nanoseconds !== null;
const isBroken = (row: Row | undefined): boolean =>
  row?.outcome === 'failed' || row?.outcome === 'aborted';

const subjectOf = ({ kind, column, bytes, labels }: Row) => ({ kind, column, bytes, labels });
const nothing = { nanosecondsA: null, nanosecondsB: null, effect: null, p: null };

function unmeasured({ row, a, b }: Pair): ComparedRow {
  const broken = (['B', 'A'] as const).find((side) => (side === 'A' ? a : b).some(isBroken));
  if (broken !== undefined) {
    const { outcome, reason = 'no reason given' } = (broken === 'A' ? a : b).find(isBroken)!;
    const change = `broken in ${broken}` as const;
    return { row: subjectOf(row), change, ...nothing, reason: `${outcome}: ${reason}` };
  }
  const inA = isEnough(a) || !isEnough(b);
  const other = inA ? b : a;
  const reason = other.find((one) => one?.reason)?.reason ?? partly(other);
  const change = inA ? 'only in A' : 'only in B';
  return { row: subjectOf(row), change, ...nothing, ...(reason !== undefined && { reason }) };
}

function partly(side: readonly (Row | undefined)[]): string | undefined {
  const measured = side.filter(isMeasured).length;
  return measured === 0 ? undefined : `measured in ${measured} of ${side.length} repeats`;
}

function setUpDifferences(a: Run, b: Run): string[] {
  const facts: [string, (run: Run) => unknown][] = [
    ['ranks', (run) => run.world.ranks],
    ['hosts', (run) => run.world.hosts.length],
    ['provider', (run) => fabricName(run.fabric)],
    ['libfabric', (run) => run.fabric.version],
    ['channels', (run) => run.fabric.channels.length],
  ];
  return facts
    .filter(([, of]) => of(a) !== of(b))
    .map(([what, of]) => `${what}: ${String(of(a))} in A, ${String(of(b))} in B`);
}

export const isOnBothSides = (change: Change): boolean =>
  change !== 'only in A' && change !== 'only in B';

/** Whether B falls short of A anywhere. */
export const isWorse = ({ rows }: Comparison): boolean =>
  rows.some(({ change }) => change === 'slower' || change === 'broken in B');
