import type { Row, Run } from '../results/schema.js';
import { linesOf } from './lines.js';

/** One configuration at one size in every run that has it. */
export interface ComparedRow {
  readonly column: string;
  readonly bytes: number;
  /** By run. */
  readonly rows: readonly (Row | undefined)[];
  /** By run: its speed over the first run's; undefined where either is missing. */
  readonly ratios: readonly (number | undefined)[];
  /** By run: whether the difference is more than two such runs show by themselves. See `isClear`. */
  readonly clear: readonly boolean[];
}

export interface Comparison {
  readonly names: readonly string[];
  readonly rows: readonly ComparedRow[];
}

/** Runs of one benchmark side by side, against the first; only rows that passed are held against each other. */
export function comparisonOf(runs: readonly Run[]): Comparison {
  const lines = linesOf(runs);
  const names = runs.map((run) => lines.find((line) => line.run === run)?.runName ?? run.id);
  const columns = [...new Set(lines.map((line) => line.column))];
  const rows = columns.flatMap((column) => {
    const byRun = runs.map((run) =>
      lines.find((each) => each.run === run && each.column === column),
    );
    const sizes = [...new Set(byRun.flatMap((line) => line?.rows.map((row) => row.bytes!) ?? []))];
    return sizes
      .sort((a, b) => a - b)
      .map((bytes) => {
        const found = byRun.map((line) =>
          line?.rows.findLast((row) => row.bytes === bytes && row.outcome === 'passed'),
        );
        return comparedRow(column, bytes, found);
      });
  });
  return { names, rows: rows.filter((row) => row.rows.filter(Boolean).length > 1) };
}

function comparedRow(
  column: string,
  bytes: number,
  rows: readonly (Row | undefined)[],
): ComparedRow {
  const [first] = rows;
  return {
    column,
    bytes,
    rows,
    ratios: rows.map((row) => row && first && speed(row) / speed(first)),
    clear: rows.map((row) => row !== undefined && first !== undefined && isClear(row, first)),
  };
}

/** A rate where there is one: runs of different worlds move different bytes in the same row. */
const speed = (row: Row): number => row.gbps ?? 1 / row.nanoseconds!.mean;

/** Single runs differ by so much when nothing has changed, as `weft compare` holds too (docs/comparing.md). */
export const betweenRuns = 0.25;

/** Beyond what runs differ by themselves, and the intervals that hold the true means 95 times in 100 are apart. */
function isClear(a: Row, b: Row): boolean {
  const [fast, slow] = [speed(a), speed(b)].sort((x, y) => y - x);
  const [x, y] = [a.nanoseconds?.ci95, b.nanoseconds?.ci95];
  if (x == null || y == null || fast! / slow! - 1 <= betweenRuns) return false;
  // Where the rows moved different bytes in an iteration, their times say nothing about each other.
  const sameBytes = Math.abs(Math.log(bytesMoved(a) / bytesMoved(b))) < 0.01;
  return !sameBytes || x[0] > y[1] || y[0] > x[1];
}

const bytesMoved = (row: Row): number => (row.gbps === null ? 1 : row.gbps * row.nanoseconds!.mean);
