import { formatBytes, microseconds } from '../../measure/units.js';
import type { Row, Run } from '../schema.js';

/** A figure that every column of a table shows. */
export interface Figure {
  /** Short, for text tables; the first is the column's own. */
  readonly title: string;
  /** As the reference's Markdown tables spell it. */
  readonly longTitle: string;
  text(row: Row): string;
}

export interface GridLine {
  readonly size: string;
  readonly count: string;
  /** Aligned with `Grid.columns`. */
  readonly cells: readonly (Row | undefined)[];
}

/** A run as a table: sizes down, columns across. Columns of which nothing ran are left to the notes. */
export interface Grid {
  readonly columns: readonly string[];
  readonly figures: readonly Figure[];
  readonly lines: readonly GridLine[];
}

export const noValue = '-';

const fixed = (value: number | null | undefined, digits: number): string =>
  value === null || value === undefined ? noValue : value.toFixed(digits);

/** Two decimals as in the reference, more where they would leave nothing. */
export const gbpsText = (gbps: number | null): string =>
  fixed(gbps, gbps !== null && gbps > 0 && gbps < 0.1 ? 4 : 2);
export const percentText = (percent: number | null): string => fixed(percent, 1);
export const microsecondsText = (nanoseconds: number | undefined): string =>
  fixed(nanoseconds === undefined ? undefined : microseconds(nanoseconds), 2);

const gbps: Figure = {
  title: 'Gbps',
  longTitle: 'Gbps',
  text: (row) => (row.outcome === 'passed' ? gbpsText(row.gbps) : row.outcome.toUpperCase()),
};
const busbw: Figure = {
  title: 'BusBW %',
  longTitle: 'BusBW (%)',
  text: (row) => percentText(row.busbwPercent),
};
const line: Figure = {
  title: 'Line %',
  longTitle: 'Line (%)',
  text: (row) => percentText(row.linePercent),
};
const lineRate: Figure = {
  title: 'Line Gbps',
  longTitle: 'Line (Gbps)',
  text: (row) => gbpsText(row.lineGbps),
};
const latency: Figure = {
  title: 'Lat us',
  longTitle: 'Lat (us)',
  text: (row) => microsecondsText(row.nanoseconds?.mean),
};
const half: Figure = {
  title: 'Half us',
  longTitle: 'Half (us)',
  text: (row) => microsecondsText(row.halfRoundTripNanoseconds),
};

/**
 * What went over the line is shown where it differs from the first figure, as a share of the line
 * rate where that is known; the half where there are round trips.
 */
function figuresFor(rows: readonly Row[]): Figure[] {
  const lineDiffers = rows.some((row) => row.lineGbps !== row.gbps);
  const rateKnown = rows.some((row) => row.linePercent !== null);
  const roundTrips = rows.some((row) => row.halfRoundTripNanoseconds !== undefined);
  const onTheLine = lineDiffers ? [rateKnown ? line : lineRate] : [];
  return [gbps, busbw, ...onTheLine, latency, ...(roundTrips ? [half] : [])];
}

const wasTried = (row: Row): boolean => row.outcome !== 'skipped';

export function gridOf(run: Run): Grid {
  const columns = [...new Set(run.rows.filter(wasTried).map((row) => row.column))];
  const shown = run.rows.filter((row) => columns.includes(row.column) && row.bytes !== null);
  const sizes = [...new Set(shown.map((row) => row.bytes!))].sort((a, b) => a - b);
  return {
    columns,
    figures: figuresFor(shown),
    lines: sizes.flatMap((b) => linesOf(b, columns, shown)),
  };
}

/** More than one row of a size and column, as pairs make them, become lines of their own. */
function linesOf(bytes: number, columns: readonly string[], rows: readonly Row[]): GridLine[] {
  const stacks = columns.map((column) =>
    rows.filter((r) => r.column === column && r.bytes === bytes),
  );
  const height = Math.max(...stacks.map((stack) => stack.length));
  const count = stacks.flat().find((row) => row.count !== null)?.count;
  return Array.from({ length: height }, (_, i) => ({
    size: formatBytes(bytes),
    count: count === undefined ? noValue : String(count),
    cells: stacks.map((stack) => stack[i]),
  }));
}
