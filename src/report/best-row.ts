import type { Row, Run } from '../results/schema.js';
import { texts } from './hydrate.js';

/** What a run is fast in: bytes, or where rows count operations, those. */
export interface Rate {
  readonly of: (row: Row) => number | null;
  readonly text: (row: Row) => string;
}

const gbps = texts.gbps!;

const inBytes: Rate = {
  of: (row) => row.gbps,
  /** In an all-to-all the figure is per peer, and what a rank sent in all is said beside it. */
  text: ({ gbps: rate, lineGbps }) => {
    if (lineGbps === null || Math.abs(lineGbps - rate!) < 1e-6 * rate!) return gbps(rate!);
    return `${gbps(rate!)} per peer (${gbps(lineGbps)} sent by each rank)`;
  },
};

const inOperations: Rate = {
  of: (row) => row.mops ?? null,
  text: ({ mops }) => texts.mops!(mops!),
};

export const isCounted = (runs: readonly Run[]): boolean =>
  runs.some((run) => passed(run).some((row) => row.mops !== undefined));

export const rateOf = (runs: readonly Run[]): Rate => (isCounted(runs) ? inOperations : inBytes);

export const passed = (run: Run): Row[] =>
  run.rows.filter((row) => row.outcome === 'passed' && row.nanoseconds !== null);

export const most = (rows: readonly Row[], value: (row: Row) => number): Row | undefined =>
  rows.reduce<Row | undefined>(
    (a, b) => (a === undefined || value(b) > value(a) ? b : a),
    undefined,
  );

export const ratedRows = (run: Run, rate: Rate): Row[] =>
  passed(run).filter((row) => row.bytes !== null && rate.of(row) !== null);

/** The fastest of these rows. Those that only show a shaper's burst say nothing about the line, and count last. */
export function bestOf(rows: readonly Row[], rate: Rate): Row | undefined {
  const steady = rows.filter((row) => !row.labels.burst);
  return most(steady.length > 0 ? steady : rows, (row) => rate.of(row)!);
}
