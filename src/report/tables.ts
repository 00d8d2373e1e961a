import { formatBytes, formatBytesRounded, formatNanoseconds } from '../measure/units.js';
import { comparisonParts } from '../results/formats/comparison.js';
import { gridOf, leadOf } from '../results/formats/grid.js';
import { describeRun, markOf } from '../results/formats/notes.js';
import { isLarge, slowestRows } from '../results/large-matrix.js';
import { isInMatrix } from '../results/row-kinds.js';
import type { Row, Run } from '../results/schema.js';
import type { Against } from './comparison.js';
import { type Cell, htmlTable } from './html-table.js';

/** Sizes down, configurations across, as the terminal shows a run; empty where only pairs were measured. */
export function gridTable(run: Run): string {
  const grid = gridOf({ ...run, rows: run.rows.filter((row) => !isInMatrix(row)) });
  const { columns, figures, lines } = grid;
  const lead = leadOf(grid);
  if (lines.length === 0) return '';
  const span = figures.length;
  const head = columns.map((text): Cell => ({ text, span, classes: 'group' }));
  const names = columns.flatMap(() => figures.map(({ title }, i) => grouped(title, i)));
  return htmlTable({
    caption: describeRun(run),
    heads: [
      [{ text: '', span: lead.heads.length }, ...head],
      [...lead.heads.map((text) => ({ text })), ...names],
    ],
    rows: lines.map((line) => [
      ...lead.cells(line).map((text) => ({ text })),
      ...line.cells.flatMap((row) =>
        figures.map((figure, i) => {
          const text = row === undefined ? '' : figure.text(row) + (i === 0 ? markOf(row) : '');
          return grouped(text, i, row && stateOf(row));
        }),
      ),
    ]),
  });
}

const grouped = (text: string, index: number, state = ''): Cell => ({
  text,
  classes: [index === 0 ? 'group' : '', state].filter((name) => name !== '').join(' '),
});

function stateOf({ outcome, path, noisy }: Row): string {
  if (outcome !== 'passed') return outcome;
  if (path?.asPlanned === false) return 'failed';
  return noisy ? 'noisy' : '';
}

interface Field {
  readonly title: string;
  readonly words?: boolean;
  readonly text: (row: Row) => string | undefined;
}

const time = (
  title: string,
  pick: (times: NonNullable<Row['nanoseconds']>) => number | null,
): Field => ({
  title,
  text: ({ nanoseconds }) => {
    const value = nanoseconds && pick(nanoseconds);
    return value == null ? undefined : formatNanoseconds(value);
  },
});

const percent = (title: string, pick: (row: Row) => number | null): Field => ({
  title,
  text: (row) => pick(row)?.toFixed(1),
});

const fields: readonly Field[] = [
  { title: 'Configuration', words: true, text: (row) => row.column },
  { title: 'Size', text: ({ bytes }) => (bytes === null ? 'all' : formatBytes(bytes)) },
  { title: 'From', text: ({ labels }) => labels.from?.toString() },
  { title: 'To', text: ({ labels }) => labels.to?.toString() },
  { title: 'Rail', words: true, text: ({ labels }) => labels.rail },
  { title: 'Memory', words: true, text: ({ labels }) => labels.memory },
  { title: 'Producer', words: true, text: ({ labels }) => labels.producer },
  { title: 'Grid', text: ({ labels }) => labels.grid?.toString() },
  { title: 'Block', text: ({ labels }) => labels.block?.toString() },
  { title: 'Gbps', text: ({ gbps }) => gbps?.toPrecision(4) },
  {
    title: 'Line Gbps',
    text: ({ gbps, lineGbps }) => (lineGbps === gbps ? undefined : lineGbps?.toPrecision(4)),
  },
  percent('BusBW %', (row) => row.busbwPercent),
  percent('Line %', (row) => row.linePercent),
  percent('Of bound %', (row) => row.ofBoundPercent),
  percent('Loss %', (row) => row.lossPercent ?? null),
  { title: 'Mops/s', text: ({ mops }) => mops?.toPrecision(4) },
  time('Mean', (times) => times.mean),
  time('± 95 %', ({ ci95 }) => ci95 && (ci95[1] - ci95[0]) / 2),
  time('Min', (times) => times.min),
  time('p50', (times) => times.p50),
  time('p95', (times) => times.p95),
  time('p99', (times) => times.p99),
  time('Max', (times) => times.max),
  {
    title: 'Half trip',
    text: ({ halfRoundTripNanoseconds: half }) =>
      half === undefined ? undefined : formatNanoseconds(half),
  },
  {
    title: 'Iterations',
    text: ({ iterations }) => (iterations === 0 ? undefined : String(iterations)),
  },
  {
    title: 'Checked',
    text: ({ checked }) => (checked.bytes === 0 ? undefined : formatBytesRounded(checked.bytes)),
  },
  { title: 'Resent', text: ({ resent }) => resent?.toString() },
  { title: 'Path', words: true, text: ({ path }) => path && pathWords.get(path.asPlanned) },
  { title: 'Outcome', words: true, text: (row) => row.outcome },
  { title: 'Remarks', words: true, text: remarksOf },
];

const pathWords = new Map([
  [true, 'as planned'],
  [false, 'not as planned'],
]) as ReadonlyMap<boolean | null, string>;

function remarksOf({ noisy, labels, reason, checked, path }: Row): string | undefined {
  const said = [
    noisy ? 'noisy' : '',
    labels.burst ? 'burst' : '',
    checked.wrong > 0 ? `${checked.wrong} bytes wrong` : '',
    reason ?? '',
    path?.text ?? '',
  ];
  return said.filter((text) => text !== '').join('; ') || undefined;
}

/** Of a large matrix only its slowest pairs. */
export function rowTable(run: Run): string {
  const large = isLarge(run.world);
  const shown = large ? slowestRows(run) : run.rows;
  const texted = shown.map((row) => fields.map((field) => field.text(row)));
  const used = fields.map((_, i) => i).filter((i) => texted.some((row) => row[i] !== undefined));
  const classesOf = (i: number, row?: Row): string => {
    const { title, words } = fields[i]!;
    const state = row && title === 'Outcome' ? row.outcome : '';
    return [words ? 'text' : '', title === 'Remarks' ? 'wide' : '', state]
      .filter(Boolean)
      .join(' ');
  };
  return htmlTable({
    caption: `${large ? 'The slowest rows' : 'Every row'} of ${run.id}`,
    heads: [used.map((i) => ({ text: fields[i]!.title, classes: classesOf(i) }))],
    rows: shown.map((row, r) =>
      used.map((i) => ({ text: texted[r]![i] ?? '', classes: classesOf(i, row) })),
    ),
  });
}

/** Two runs row by row, with what `weft compare` makes of each row. */
export function comparisonTable({ benchmark, names: [a, b], comparison }: Against): string {
  const { heads, lines, left = [] } = comparisonParts(comparison).table;
  const cell = (text: string, i: number): Cell =>
    left.includes(i) ? { text, classes: 'text' } : { text };
  return htmlTable({
    caption: `${benchmark}: ${b} against ${a}`,
    heads: [heads.map(cell)],
    rows: lines.map((line) => line.map(cell)),
  });
}
