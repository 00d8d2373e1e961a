import { differencesOf } from '../../analysis/hosts/differences.js';
import type { Note, NoteKind } from '../note.js';
import { type Figure, gbpsText } from '../row-figures.js';
import { isInMatrix } from '../row-kinds.js';
import type { Row, Run } from '../schema.js';
import { againstTable, againstTitle } from './against.js';
import { backendTables, hasBackends, trafficOf } from './backends.js';
import { barText, sparkline } from './bars.js';
import { differenceLines } from './differences.js';
import { findingsOf } from './findings.js';
import { type Grid, gridOf, leadOf } from './grid.js';
import { heatMap, matricesOf } from './heat-map.js';
import { describeRun, markOf, shownNotes } from './notes.js';
import { alignedTable } from './plain-table.js';
import { type Paint, painter, wrap } from './text.js';

export interface TableOptions {
  /** Of the terminal; columns that do not fit go into a table of their own below. */
  readonly width?: number;
  readonly color?: boolean;
  readonly unicode?: boolean;
  /** Draw each column's rate beside its numbers where that fits, or its course beside its title. */
  readonly bars?: boolean;
  /** Every note; otherwise the most important ones. */
  readonly verbose?: boolean;
}

interface Style {
  readonly paint: Paint;
  readonly bar: string;
  readonly rule: string;
  readonly cross: string;
  readonly dot: string;
  readonly width: number;
}

/** A column of the grid with its cells written and measured. */
interface Group {
  readonly title: string;
  readonly heads: readonly string[];
  readonly cells: readonly (readonly string[])[];
  readonly rows: readonly (Row | undefined)[];
  readonly widths: readonly number[];
  readonly width: number;
  readonly drawing?: Drawing;
}

/** A bar per line, and its scale as a heading; all as wide as the heading and `barWidth`. */
interface Drawing {
  readonly head: string;
  readonly bars: readonly string[];
}

const gap = 2;
const barWidth = 8;

/** The reference's table: Size, Count, then Gbps, BusBW % and Lat us of every column. */
export function formatTable(run: Run, options: TableOptions = {}): string {
  const { width = 80, color = false, unicode = true } = options;
  const ink = unicode
    ? { bar: '│', rule: '─', cross: '┼', dot: ' · ' }
    : { bar: '|', rule: '-', cross: '+', dot: ' - ' };
  const style: Style = { ...ink, paint: painter(color), width };
  const title = wrap(describeRun(run, style.dot), width).map((line) => style.paint('bold', line));
  const about = hasBackends(run) ? trafficOf(run).flatMap((text) => wrap(text, width)) : [];
  const written = (notes: readonly Note[]) =>
    notes.flatMap(({ kind, text }) =>
      wrap(text, width).map((line) => style.paint(noteColor[kind], line)),
    );
  const below = [findingsOf(run), shownNotes(run, options.verbose)].map(written);
  const differences = run.diagnosis ? differenceLines(differencesOf(run.world)) : [];
  const tables = [...tablesOf(run, style, options), comparedLines(run, style)];
  const parts = [[...title, ...about], ...tables, differences, ...below];
  const filled = parts.filter((lines) => lines.length > 0);
  return `${filled.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function tablesOf(run: Run, style: Style, { unicode = true, bars = false }: TableOptions) {
  const { paint, width, rule } = style;
  if (hasBackends(run)) return backendTables(run, paint, rule);
  if (run.rows.some(isInMatrix)) {
    return matricesOf(run).map((matrix) => heatMap(matrix, { paint, unicode, width }));
  }
  return gridTables(run, style, bars ? { unicode } : undefined);
}

function comparedLines(run: Run, { paint, width }: Style): string[] {
  const table = againstTable(run);
  if (!table) return [];
  const [head = '', ...lines] = alignedTable(table);
  return [...wrap(againstTitle, width), paint('bold', head), ...lines];
}

function gridTables(run: Run, style: Style, bars: { unicode: boolean } | undefined): string[][] {
  const grid = gridOf(run);
  const head = leadGroup(grid);
  const plain = grid.columns.map((title, index) => groupOf(title, index, grid));
  const groups = bars ? drawn(plain, head.width, style.width, bars.unicode) : plain;
  return packed(groups, head.width, style.width).map((some) => tableLines(head, some, style));
}

const noteColor = {
  bad: 'red',
  doubt: 'yellow',
  plain: 'dim',
  detail: 'dim',
} as const satisfies Record<NoteKind, string>;

function leadGroup(grid: Grid): Group {
  const { heads, cells } = leadOf(grid);
  const { lines } = grid;
  return measured({
    title: '',
    heads,
    cells: lines.map(cells),
    rows: lines.map(() => undefined),
  });
}

function groupOf(title: string, index: number, { figures, lines }: Grid): Group {
  const rows = lines.map((line) => line.cells[index]);
  const cells = rows.map((row) => figures.map((figure, i) => cellText(row, figure, i)));
  // The first figure carries a mark, or a blank where others have one.
  const heads = figures.map((figure, i) => (i === 0 ? `${figure.title} ` : figure.title));
  return measured({ title: `${title}${wayOf(rows)}`, heads, cells, rows });
}

function wayOf(rows: readonly (Row | undefined)[]): string {
  const ways = new Set(rows.flatMap((row) => row?.labels.memory ?? []));
  const shown = [...ways].filter((memory) => memory === 'staged' || memory === 'direct');
  return shown.length === 0 ? '' : ` (${shown.join(', ')})`;
}

function cellText(row: Row | undefined, figure: Figure, index: number): string {
  const text = row === undefined ? '' : figure.text(row);
  return index === 0 ? `${text}${(row && markOf(row)) || ' '}` : text;
}

function measured(group: Omit<Group, 'widths' | 'width'>): Group {
  const widths = group.heads.map((head, i) =>
    Math.max(head.length, ...group.cells.map((line) => line[i]!.length)),
  );
  const sum = widths.reduce((total, width) => total + width, 0) + gap * (widths.length - 1);
  const spare = group.title.length - sum;
  if (spare > 0) widths[0]! += spare;
  return { ...group, widths, width: Math.max(sum, group.title.length) };
}

/** Bars where they take no table more than there were; else a sparkline where a title leaves room. */
function drawn(
  groups: readonly Group[],
  headWidth: number,
  width: number,
  unicode: boolean,
): readonly Group[] {
  // Rows that count operations have no bytes to rate.
  const inBytes = groups.some(({ rows }) => rows.some((row) => row?.gbps != null));
  const rateOf = (row: Row | undefined) => (inBytes ? row?.gbps : row?.mops) ?? null;
  const rates = groups.map(({ rows }) => rows.map(rateOf));
  const most = rates.flat().reduce<number>((top, rate) => Math.max(top, rate ?? 0), 0);
  if (most === 0) return groups;
  const withBars = groups.map((group, i) =>
    rates[i]!.every((rate) => rate === null) ? group : barred(group, rates[i]!, most, unicode),
  );
  const tables = (some: readonly Group[]) => packed(some, headWidth, width).length;
  if (tables(withBars) === tables(groups)) return withBars;
  return groups.map((group, i) => {
    const title = `${group.title} ${sparkline(rates[i]!, unicode)}`;
    return rates[i]!.length > 1 && title.length <= group.width ? { ...group, title } : group;
  });
}

/** All columns share one scale, so that bars can be compared across the table. */
function barred(
  group: Group,
  rates: readonly (number | null)[],
  most: number,
  unicode: boolean,
): Group {
  const head = `of ${gbpsText(most)}`.padEnd(barWidth);
  const bars = rates.map((rate) =>
    barText((rate ?? 0) / most, barWidth, unicode).padEnd(head.length),
  );
  return { ...group, drawing: { head, bars }, width: group.width + gap + head.length };
}

/** As many columns side by side as fit; one at least. */
function packed(groups: readonly Group[], headWidth: number, width: number): Group[][] {
  const tables: Group[][] = [];
  let used = Number.POSITIVE_INFINITY;
  for (const group of groups) {
    const needed = group.width + separatorWidth;
    if (used + needed > width) {
      tables.push([]);
      used = headWidth;
    }
    tables.at(-1)!.push(group);
    used += needed;
  }
  return tables;
}

const separatorWidth = 3;

/** A line that none of these columns has a row for would be empty. */
const linesWith = (groups: readonly Group[]): number[] =>
  [...groups[0]!.rows.keys()].filter((i) => groups.some(({ rows }) => rows[i] !== undefined));

function tableLines(head: Group, groups: readonly Group[], style: Style): string[] {
  const { paint, bar, rule, cross } = style;
  const all = [head, ...groups];
  const join = (parts: readonly string[]) => parts.join(` ${bar} `).trimEnd();
  const between = ' '.repeat(gap);
  const written = (group: Group, texts: readonly string[]) =>
    texts.map((text, i) => text.padStart(group.widths[i]!)).join(between);
  const beside = (text: string | undefined) =>
    text === undefined ? '' : between + paint('cyan', text);
  return [
    paint('bold', join(all.map((group) => centered(group.title, group.width)))),
    join(all.map((group) => written(group, group.heads) + beside(group.drawing?.head))),
    all.map((group) => rule.repeat(group.width)).join(`${rule}${cross}${rule}`),
    ...linesWith(groups).map((i) =>
      join(
        all.map((group) => {
          const text = colored(group.rows[i], written(group, group.cells[i]!), paint);
          return text + beside(group.drawing?.bars[i]);
        }),
      ),
    ),
  ];
}

const centered = (text: string, width: number): string =>
  text.padStart(Math.floor((width + text.length) / 2)).padEnd(width);

function colored(row: Row | undefined, text: string, paint: Paint): string {
  const bad = row?.outcome === 'failed' || row?.outcome === 'aborted';
  if (bad || row?.path?.asPlanned === false) return paint('red', text);
  return row?.noisy ? paint('yellow', text) : text;
}
