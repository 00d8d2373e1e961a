import { formatBytes, rangeText } from '../../measure/units.js';
import { type Figure, noValue } from '../row-figures.js';
import { kindOf } from '../row-kinds.js';
import type { Row, Run } from '../schema.js';

interface GridLine {
  /** Blocks × threads, where rows have that. */
  readonly shape: string | undefined;
  readonly size: string;
  /** Elements; of an expert layer, tokens per rank. */
  readonly count: string;
  /** Aligned with `Grid.columns`. */
  readonly cells: readonly (Row | undefined)[];
}

/** A run as a table: sizes down, columns across. Columns of which nothing ran are left to the notes. */
export interface Grid {
  readonly columns: readonly string[];
  readonly countName: 'Count' | 'Tokens';
  readonly figures: readonly Figure[];
  readonly lines: readonly GridLine[];
}

const wasTried = (row: Row): boolean => row.outcome !== 'skipped';

export function gridOf(run: Run): Grid {
  const columns = [...new Set(run.rows.filter(wasTried).map((row) => row.column))];
  const shown = run.rows.filter((row) => columns.includes(row.column) && row.bytes !== null);
  const sizes = [...new Set(shown.map((row) => row.bytes!))].sort((a, b) => a - b);
  return {
    columns,
    countName: shown.some((row) => row.routing) ? 'Tokens' : 'Count',
    figures: kindOf(shown[0]).figures(shown),
    lines: sizes.flatMap((b) => linesOf(b, columns, shown)),
  };
}

/** More than one row of a size, shape and column, as pairs make them, become lines of their own. */
function linesOf(bytes: number, columns: readonly string[], rows: readonly Row[]): GridLine[] {
  const ofSize = rows.filter((row) => row.bytes === bytes);
  const counts = ofSize.flatMap((row) => row.routing?.tokens ?? row.count ?? []);
  return [...new Set(ofSize.map(shapeOf))].flatMap((shape) => {
    const stacks = columns.map((column) =>
      ofSize.filter((row) => row.column === column && shapeOf(row) === shape),
    );
    const height = Math.max(...stacks.map((stack) => stack.length));
    return Array.from({ length: height }, (_, i) => ({
      shape,
      size: formatBytes(bytes),
      count: counts.length === 0 ? noValue : rangeText(counts, 0),
      cells: stacks.map((stack) => stack[i]),
    }));
  });
}

const shapeOf = ({ labels: { grid, block } }: Row): string | undefined =>
  grid === undefined && block === undefined ? undefined : `${grid ?? 1}×${block ?? 1}`;

/** The headings of what identifies a line, and the line's cells under them. */
export function leadOf({ lines, countName }: Grid): {
  heads: string[];
  cells: (line: GridLine) => string[];
} {
  const shaped = lines.some(({ shape }) => shape !== undefined);
  return {
    heads: ['Size', countName, ...(shaped ? ['Grid'] : [])],
    cells: ({ size, count, shape }) => [size, count, ...(shaped ? [shape ?? noValue] : [])],
  };
}
