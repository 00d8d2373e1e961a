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
  /** Blocks × threads, where rows have that. */
  readonly shape: string | undefined;
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
const loss: Figure = {
  title: 'Loss %',
  longTitle: 'Loss (%)',
  text: (row) => percentText(row.lossPercent ?? null),
};
const peak: Figure = { ...busbw, title: 'Peak %', longTitle: 'Peak (%)' };
const mops: Figure = {
  title: 'M/s',
  longTitle: 'M/s',
  text: (row) => (row.outcome === 'passed' ? fixed(row.mops, 3) : row.outcome.toUpperCase()),
};
const each: Figure = {
  title: 'p50 ns',
  longTitle: 'p50 (ns)',
  text: (row) => fixed(row.nanoseconds?.p50, 1),
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
  if (rows[0]?.kind === 'queue') return [mops, each];
  if (rows[0]?.kind === 'ipc') return [gbps, peak, latency];
  const lineDiffers = rows.some((row) => row.lineGbps !== row.gbps);
  const rateKnown = rows.some((row) => row.linePercent !== null);
  const roundTrips = rows.some((row) => row.halfRoundTripNanoseconds !== undefined);
  const onTheLine = lineDiffers ? [rateKnown ? line : lineRate] : [];
  const losses = rows.some((row) => row.lossPercent !== undefined) ? [loss] : [];
  return [gbps, busbw, ...onTheLine, latency, ...losses, ...(roundTrips ? [half] : [])];
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

/** More than one row of a size, shape and column, as pairs make them, become lines of their own. */
function linesOf(bytes: number, columns: readonly string[], rows: readonly Row[]): GridLine[] {
  const ofSize = rows.filter((row) => row.bytes === bytes);
  const count = ofSize.find((row) => row.count !== null)?.count;
  return [...new Set(ofSize.map(shapeOf))].flatMap((shape) => {
    const stacks = columns.map((column) =>
      ofSize.filter((row) => row.column === column && shapeOf(row) === shape),
    );
    const height = Math.max(...stacks.map((stack) => stack.length));
    return Array.from({ length: height }, (_, i) => ({
      shape,
      size: formatBytes(bytes),
      count: count === undefined ? noValue : String(count),
      cells: stacks.map((stack) => stack[i]),
    }));
  });
}

function shapeOf({ labels: { grid, block } }: Row): string | undefined {
  return grid === undefined && block === undefined ? undefined : `${grid ?? 1}×${block ?? 1}`;
}

/** The headings of what identifies a line, and the line's cells under them. */
export function leadOf({ lines }: Grid): {
  heads: string[];
  cells: (line: GridLine) => string[];
} {
  const shaped = lines.some(({ shape }) => shape !== undefined);
  return {
    heads: ['Size', 'Count', ...(shaped ? ['Grid'] : [])],
    cells: ({ size, count, shape }) => [size, count, ...(shaped ? [shape ?? noValue] : [])],
  };
}
