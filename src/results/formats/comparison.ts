import type { ComparedRow, Comparison, RowVerdict } from '../../analysis/compare/compare.js';
import { notesOf, settleNotes } from '../../analysis/compare/notes.js';
import { percentText } from '../../analysis/compare/summary.js';
import { formatNanoseconds, microseconds } from '../../measure/units.js';
import { nameOfRow } from '../row-name.js';
import { csvText } from './csv.js';
import { alignedTable, escapedMarkdown, markdownTable, type PlainTable } from './plain-table.js';
import { type Ink, painter, wrap } from './text.js';

export const comparisonFormats = ['table', 'markdown', 'csv', 'json'] as const;
export type ComparisonFormat = (typeof comparisonFormats)[number];

interface Look {
  readonly color?: boolean;
  readonly width?: number;
  /** Also the rows that are the same. */
  readonly all?: boolean;
  /** Further notes, after those on the comparison. */
  readonly notes?: readonly string[];
}

export function formatComparison(
  comparison: Comparison,
  format: ComparisonFormat,
  look: Look = {},
): string {
  if (format === 'json') return `${JSON.stringify(comparison, null, 2)}\n`;
  if (format === 'csv') return asCsv(comparison);
  return format === 'markdown' ? asMarkdown(comparison, look) : asTable(comparison, look);
}

const inkOf: Partial<Record<RowVerdict, Ink>> = {
  slower: 'red',
  'broken in B': 'red',
  unclear: 'yellow',
  faster: 'bold',
};

function asTable(comparison: Comparison, look: Look): string {
  const { color = false, all = false, width = 120, notes: more = [] } = look;
  const paint = painter(color);
  const shown = shownRows(comparison, all);
  const [head = '', ...lines] = alignedTable(tableOf(comparison, shown));
  const painted = lines.map((line, i) => {
    const ink = inkOf[shown[i]!.verdict];
    return ink ? paint(ink, line) : line;
  });
  const table = shown.length === 0 ? [] : [head, ...painted, ''];
  const summary = wrap(comparison.summary, width).map((line) => paint('bold', line));
  const notes = [...notesOf(comparison), ...more].flatMap((note) => wrap(note, width));
  // A command stays on one line: it is there to be copied.
  return `${[...summary, '', ...table, ...settleNotes(comparison), ...notes].join('\n')}\n`;
}

function asMarkdown(comparison: Comparison, { all = false, notes: more = [] }: Look): string {
  const { heads, lines, left } = tableOf(comparison, shownRows(comparison, all));
  const cells = lines.map((line) => line.map(escapedMarkdown));
  const table =
    lines.length === 0 ? [] : [...markdownTable({ heads, lines: cells, left: left ?? [] }), ''];
  const notes = [...settleNotes(comparison), ...notesOf(comparison), ...more].map(
    (note) => `- ${escapedMarkdown(note)}`,
  );
  return `${[`**${escapedMarkdown(comparison.summary)}**`, '', ...table, ...notes].join('\n')}\n`;
}

const shownRows = ({ rows }: Comparison, all: boolean): ComparedRow[] =>
  rows.filter((row) => all || row.verdict !== 'same');

/** The same parts for other readers than terminals: every row, and what became of it. */
export function comparisonParts(comparison: Comparison) {
  return {
    summary: comparison.summary,
    table: tableOf(comparison, comparison.rows),
    verdicts: comparison.rows.map((row) => row.verdict),
    notes: [...settleNotes(comparison), ...notesOf(comparison)],
  };
}
export type ComparisonParts = ReturnType<typeof comparisonParts>;

interface Column {
  readonly head: string;
  readonly left?: boolean;
  text(row: ComparedRow): string;
}

function tableOf(comparison: Comparison, rows: readonly ComparedRow[]): PlainTable {
  const columns = columnsOf(comparison);
  return {
    heads: columns.map(({ head }) => head),
    left: columns.flatMap(({ left }, i) => (left ? [i] : [])),
    lines: rows.map((row) => columns.map(({ text }) => text(row))),
  };
}

function columnsOf({ noise, errorRate, rows }: Comparison): Column[] {
  const interval = {
    head: `${percentText(1 - errorRate)} interval`,
    text: (row: ComparedRow) => (row.interval === null ? '-' : intervalText(row.interval)),
  };
  const spread = (side: 0 | 1) => ({
    head: `Spread ${'AB'[side]}`,
    text: (row: ComparedRow) => shareText(row.sampleSpread?.[side]),
  });
  const between = {
    head: 'Noise',
    text: (row: ComparedRow) =>
      `${row.noise?.spread == null ? '' : '±'}${shareText(row.noise?.spread)}`,
  };
  const known = rows.some((row) => row.interval !== null);
  return [
    { head: 'Row', left: true, text: nameOfRow },
    { head: 'B/A', text: ({ ratio }) => (ratio === null ? '-' : `${ratio.toFixed(2)}×`) },
    ...(known ? [interval] : []),
    { head: 'A', text: (row) => timeText(row.nanosecondsA) },
    { head: 'B', text: (row) => timeText(row.nanosecondsB) },
    ...(noise.from === 'unknown' ? [] : [between]),
    // Without an interval, what the samples do inside the runs is all there is.
    ...(known ? [] : [spread(0), spread(1)]),
    {
      head: 'B is',
      left: true,
      text: ({ verdict, reason }) => (reason === undefined ? verdict : `${verdict} (${reason})`),
    },
  ];
}

const timeText = (nanoseconds: number | null) =>
  nanoseconds === null ? '-' : formatNanoseconds(nanoseconds);
const intervalText = ([low, high]: readonly [number, number]) =>
  `${low.toFixed(2)} to ${high < 100 ? high.toFixed(2) : '>100'}`;
const shareText = (share: number | null | undefined) =>
  share == null ? '-' : `${(share * 100).toFixed(1)} %`;

const csvHeads = [
  ...['benchmark', 'config', 'size_bytes', 'kind', 'from', 'to', 'rail', 'verdict'],
  ...['ratio', 'ratio_low', 'ratio_high', 'a_us', 'b_us'],
  ...['noise_from', 'noise', 'samples_a', 'samples_b', 'reason'],
];

function asCsv({ benchmark, rows }: Comparison): string {
  const us = (nanoseconds: number | null) =>
    nanoseconds === null ? undefined : Number(microseconds(nanoseconds).toFixed(3));
  const share = (value: number | null | undefined) =>
    value == null ? undefined : Number(value.toFixed(5));
  const lines = rows.map(({ labels, interval, noise, sampleSpread, ...row }) => [
    ...[benchmark, row.column, row.bytes, row.kind, labels.from, labels.to, labels.rail],
    ...[row.verdict, share(row.ratio), share(interval?.[0]), share(interval?.[1])],
    ...[us(row.nanosecondsA), us(row.nanosecondsB), noise?.from, share(noise?.spread)],
    ...[share(sampleSpread?.[0]), share(sampleSpread?.[1]), row.reason],
  ]);
  return csvText([csvHeads, ...lines]);
}
