import type { Note } from './note.js';
import { copyFigures, type Figure, messageFigures, transferFigures } from './row-figures.js';
import { lossNotes, negativeNotes, pathNotes, producerNotes, stageNotes } from './row-notes.js';
import type { Row, Run } from './schema.js';

/**
 * Everything that is particular to a kind of row; all formats, the report and the live page read it from here. A new
 * kind is one entry in the table below. Charts or a headline of its own are a second one, in report/report-kinds.ts,
 * since results may not import the report. What tells rows apart are their labels, whatever the kind: see row-key.ts.
 */
interface RowKind {
  /** `grid`: sizes down, columns across. `matrix`: from rank down, to rank across. */
  readonly layout: 'grid' | 'matrix';
  /** What a column of a table shows of these rows. */
  readonly figures: (rows: readonly Row[]) => readonly Figure[];
  /** What must be said below these rows, besides what is said of all. */
  readonly notes: (rows: readonly Row[]) => readonly Note[];
}

const known = {
  transfer: {
    layout: 'grid',
    figures: transferFigures,
    notes: (rows) => [
      ...producerNotes(rows),
      ...pathNotes(rows),
      ...lossNotes(rows),
      ...stageNotes(rows),
    ],
  },
  queue: {
    layout: 'grid',
    figures: () => messageFigures,
    notes: (rows) => [...producerNotes(rows), ...stageNotes(rows), ...negativeNotes(rows)],
  },
  ipc: {
    layout: 'grid',
    figures: () => copyFigures,
    notes: (rows) => [...producerNotes(rows), ...pathNotes(rows)],
  },
  pair: { layout: 'matrix', figures: transferFigures, notes: () => [] },
} satisfies Record<string, RowKind>;

export type RowKindName = keyof typeof known;
export const rowKinds = new Map<string, RowKind>(Object.entries(known));

/** Rows of a kind that came later are shown as transfers are. */
export const kindOf = (row: Pick<Row, 'kind'> | undefined): RowKind =>
  rowKinds.get(row?.kind ?? '') ?? known.transfer;

export const isInMatrix = (row: Row): boolean => kindOf(row).layout === 'matrix';

/** Of all kinds in a run, in the order of their rows. */
export const notesOfKinds = ({ rows }: Run): Note[] =>
  [...new Set(rows.map(kindOf))].flatMap((kind) =>
    kind.notes(rows.filter((row) => kindOf(row) === kind)),
  );
