import { type NcclFigures, ncclAllToAll, ncclPointToPoint } from '../../measure/figures.js';
import { microseconds } from '../../measure/units.js';
import type { Row, Run } from '../schema.js';
import { describeRun } from './notes.js';
import { pieces } from './pieces.js';

export interface NcclOptions {
  /**
   * Whether a row's size is a block of an all-to-all, of which a rank holds one per rank. Default:
   * whether the run's settings say `pattern: "allToAll"`.
   */
  readonly allToAll?: boolean;
}

/** A measured row in nccl-tests' terms. Wrong bytes are counted, not wrong elements. */
export interface NcclRow extends NcclFigures {
  readonly row: Row;
  readonly count: number;
  readonly timeUs: number;
  /** Undefined where nothing was checked. */
  readonly wrong: number | undefined;
}

/** What nccl-tests calls the types of numbers that are added, and their bytes. */
const ncclTypes: Readonly<Record<string, readonly [name: string, bytes: number]>> = {
  float32: ['float', 4],
  float16: ['half', 2],
  bfloat16: ['bfloat16', 2],
  int32: ['int32', 4],
};

/** Of what, and how, the rows of a run were made. Without sums, elements are 4 bytes and nothing is reduced. */
export function ncclKind({ settings }: Run) {
  const { dtype, root } = (settings.own ?? {}) as Readonly<Record<string, unknown>>;
  const adds = typeof dtype === 'string' ? ncclTypes[dtype] : undefined;
  const [type, elementBytes] = adds ?? ['uint32', 4];
  return {
    type,
    elementBytes,
    redop: adds ? 'sum' : 'none',
    root: typeof root === 'number' ? root : -1,
  };
}

/** Rows without a measurement have no place in nccl-tests' output. */
export function ncclRows(run: Run, options: NcclOptions = {}): NcclRow[] {
  const allToAll = options.allToAll ?? run.settings.pattern === 'allToAll';
  const { elementBytes } = ncclKind(run);
  return run.rows.flatMap((row) => {
    const nanoseconds = row.nanoseconds?.mean;
    if (nanoseconds === undefined || row.bytes === null || row.gbps === null) return [];
    // The figure's bytes: one buffer, or all that were in flight at once.
    const inFlight = Math.round((row.gbps * nanoseconds) / 8);
    const figures =
      ownFigures(row, nanoseconds) ??
      (allToAll
        ? ncclAllToAll(row.bytes, run.world.ranks, nanoseconds)
        : ncclPointToPoint(inFlight, nanoseconds));
    const count = Math.floor((allToAll ? row.bytes : inFlight) / elementBytes);
    const wrong = row.checked.bytes === 0 ? undefined : row.checked.wrong;
    return [{ ...figures, row, count, timeUs: microseconds(nanoseconds), wrong }];
  });
}

/** Where a row has nccl-tests' figures of its own, as those of blocks of different sizes. */
function ownFigures(row: Row, nanoseconds: number): NcclFigures | undefined {
  const { algbwGBps: algbw, busbwGBps: busbw } = row;
  if (algbw === undefined || busbw === undefined) return undefined;
  return { sizeBytes: Math.round(algbw * nanoseconds), algbw, busbw };
}

/** nccl-tests' text. It knows no columns: each has a report of its own, named by a `#` line. */
export function* ncclPieces(run: Run, options: NcclOptions = {}): Generator<string> {
  const text = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');
  const rows = ncclRows(run, options);
  yield text([
    `# weft ${describeRun(run, ', ')}`,
    '# GB/s are 1e9 bytes per second; #wrong counts bytes; send/recv is timed over the round trip',
  ]);
  for (const column of new Set(run.rows.map((row) => row.column))) {
    const own = rows.filter(({ row }) => row.column === column);
    yield text(['#', `# column: ${column}`, ...(own.length === 0 ? [] : tableHead)]);
    for (const some of pieces(own)) yield text(some.map((row) => lineOf(row, ncclKind(run))));
    yield text([...(own.length === 0 ? [] : footer(own)), ...remarks(run, column)]);
  }
  yield '#\n';
}

export const formatNccl = (run: Run, options?: NcclOptions): string =>
  [...ncclPieces(run, options)].join('');

/** What did not pass, and why: nccl-tests' columns cannot say it. */
function remarks(run: Run, column: string): string[] {
  return run.rows
    .filter((row) => row.column === column && row.outcome !== 'passed')
    .map(({ bytes, outcome, reason = 'no reason given' }) => {
      const size = bytes === null ? '' : ` at ${bytes} bytes`;
      return `# ${outcome}${size}: ${reason.replace(/\s+/g, ' ')}`;
    });
}

/** printf's `%{width}s`, with two blanks between fields. */
const widths = [12, 12, 8, 6, 6, 9, 8, 8, 6] as const;

const fields = (values: readonly (string | number)[]): string =>
  values.map((value, i) => String(value).padStart(widths[i]!)).join('  ');

const tableHead = [
  ['size', 'count', 'type', 'redop', 'root', 'time', 'algbw', 'busbw', '#wrong'],
  ['(B)', '(elements)', '', '', '', '(us)', '(GB/s)', '(GB/s)', ''],
].map((texts) => `#${fields(texts).slice(1)}`.trimEnd());

const lineOf = (
  { sizeBytes, count, timeUs, algbw, busbw, wrong }: NcclRow,
  { type, redop, root }: ReturnType<typeof ncclKind>,
): string =>
  fields([
    ...[sizeBytes, count, type, redop, root],
    ...[timeUs.toFixed(2), algbw.toFixed(3), busbw.toFixed(3), wrong ?? 'N/A'],
  ]);

export function averageBusbw(rows: readonly NcclRow[]): number {
  if (rows.length === 0) return 0;
  return rows.reduce((sum, { busbw }) => sum + busbw, 0) / rows.length;
}

/** Undefined where nothing was checked. */
export function wrongIn(rows: readonly NcclRow[]): number | undefined {
  const checked = rows.flatMap(({ wrong }) => wrong ?? []);
  return checked.length === 0 ? undefined : checked.reduce((sum, wrong) => sum + wrong, 0);
}

function footer(rows: readonly NcclRow[]): string[] {
  const wrong = wrongIn(rows);
  const verdict = wrong === undefined ? 'N/A' : `${wrong} ${wrong === 0 ? 'OK' : 'FAILED'}`;
  return [
    `# Out of bounds values : ${verdict}`,
    `# Avg bus bandwidth    : ${Number(averageBusbw(rows).toPrecision(6))}`,
  ];
}
