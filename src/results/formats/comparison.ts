import {
  type Change,
  type ComparedRow,
  type Comparison,
  changes,
} from '../../analysis/compare/compare.js';
import { notesOf } from '../../analysis/compare/notes.js';
import { formatNanoseconds } from '../../measure/units.js';
import { nameOfRow } from '../row-name.js';
import { alignedTable, escapedMarkdown, markdownTable, type PlainTable } from './plain-table.js';
import { type Ink, painter } from './text.js';

export const comparisonFormats = ['table', 'markdown', 'json'] as const;
export type ComparisonFormat = (typeof comparisonFormats)[number];

interface Look {
  readonly color?: boolean;
  /** Also the rows that are the same. */
  readonly all?: boolean;
}

export function formatComparison(
  comparison: Comparison,
  format: ComparisonFormat,
  look: Look = {},
): string {
  if (format === 'json') return `${JSON.stringify(comparison, null, 2)}\n`;
  return format === 'markdown' ? asMarkdown(comparison, look) : asTable(comparison, look);
}

const inkOf: Partial<Record<Change, Ink>> = { slower: 'red', 'broken in B': 'red', faster: 'bold' };

function asTable(comparison: Comparison, { color = false, all = false }: Look): string {
  const paint = painter(color);
  const shown = shownRows(comparison, all);
  const [head = '', ...lines] = alignedTable(tableOf(shown));
  const painted = lines.map((line, i) => {
    const ink = inkOf[shown[i]!.change];
    return ink ? paint(ink, line) : line;
  });
  const table = shown.length === 0 ? [] : [head, ...painted, ''];
  return `${[paint('bold', answerOf(comparison)), '', ...table, ...notesOf(comparison)].join('\n')}\n`;
}

function asMarkdown(comparison: Comparison, { all = false }: Look): string {
  const { heads, lines, left } = tableOf(shownRows(comparison, all));
  const cells = lines.map((line) => line.map(escapedMarkdown));
  const table =
    lines.length === 0 ? [] : [...markdownTable({ heads, lines: cells, left: left ?? [] }), ''];
  const notes = notesOf(comparison).map((note) => `- ${escapedMarkdown(note)}`);
  return `${[`**${escapedMarkdown(answerOf(comparison))}**`, '', ...table, ...notes].join('\n')}\n`;
}

const shownRows = ({ rows }: Comparison, all: boolean): ComparedRow[] =>
  rows.filter((row) => all || row.change !== 'same');

/** The same parts for other readers than terminals: every row, and what became of it. */
export function comparisonParts(comparison: Comparison) {
  return {
    answer: answerOf(comparison),
    table: tableOf(comparison.rows),
    changes: comparison.rows.map((row) => row.change),
    notes: notesOf(comparison),
  };
}
export type ComparisonParts = ReturnType<typeof comparisonParts>;

export function answerOf({ benchmark, rows }: Comparison): string {
  const count = (change: Change) => rows.filter((row) => row.change === change).length;
  const parts = changes
    .map((change) => ({ change, rows: count(change) }))
    .filter((part) => part.rows > 0)
    .map((part) => `${part.rows} ${part.change}`);
  return `${benchmark}, B compared with A: ${parts.join(', ') || 'no rows'}`;
}

function tableOf(rows: readonly ComparedRow[]): PlainTable {
  return {
    heads: ['Row', 'A', 'B', 'Time', 'p', 'B is'],
    left: [0, 5],
    lines: rows.map((row) => [
      nameOfRow(row.row),
      timeText(row.nanosecondsA),
      timeText(row.nanosecondsB),
      row.effect === null ? '-' : percentText(row.effect),
      row.p === null ? '-' : pText(row.p),
      row.reason === undefined ? row.change : `${row.change} (${row.reason})`,
    ]),
  };
}

const timeText = (nanoseconds: number | null) =>
  nanoseconds === null ? '-' : formatNanoseconds(nanoseconds);
const percentText = (effect: number) => `${effect < 0 ? '' : '+'}${(effect * 100).toFixed(1)} %`;
const pText = (p: number) => (p < 0.001 ? '<0.001' : p.toFixed(3));
