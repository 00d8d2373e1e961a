import { differencesOf } from '../../analysis/hosts/differences.js';
import { isLarge } from '../large-matrix.js';
import { isInMatrix } from '../row-kinds.js';
import type { Run } from '../schema.js';
import { againstTable, againstTitle } from './against.js';
import { differenceMarkdown } from './differences.js';
import { findingsOf } from './findings.js';
import { gridOf, leadOf } from './grid.js';
import {
  type Matrix,
  matricesOf,
  percentText,
  worstHeads,
  worstRanks,
  worstTitle,
} from './heat-map.js';
import { describeRun, markOf, shownNotes } from './notes.js';
import { escapedMarkdown, markdownTable } from './plain-table.js';

/** The reference's Markdown table; its first figure is headed by the column's name. Of pairs, their matrices. */
export function formatMarkdown(run: Run, { verbose = false }: { verbose?: boolean } = {}): string {
  const matrix = run.rows.some(isInMatrix);
  const linesOf = isLarge(run.world) ? worstLines : matrixLines;
  const tables = matrix ? matricesOf(run).flatMap(linesOf) : gridLines(run);
  const notes = [...findingsOf(run), ...shownNotes(run, verbose)].map(
    ({ text }) => `- ${escapedMarkdown(text)}`,
  );
  const differences = run.diagnosis ? differenceMarkdown(differencesOf(run.world)) : [];
  const title = `**${escapedMarkdown(describeRun(run))}**`;
  return `${[title, '', ...tables, ...comparedLines(run), ...differences, ...notes].join('\n')}\n`;
}

function gridLines(run: Run): string[] {
  const grid = gridOf(run);
  const { columns, figures, lines } = grid;
  if (columns.length === 0) return [];
  const lead = leadOf(grid);
  const heads = [...lead.heads];
  for (const column of columns) {
    figures.forEach((figure, i) => {
      heads.push(i === 0 ? escapedMarkdown(`${column} (${figure.longTitle})`) : figure.longTitle);
    });
  }
  const body = lines.map((line) => [
    ...lead.cells(line),
    ...line.cells.flatMap((row) =>
      figures.map((figure, i) => {
        if (row === undefined) return '';
        return figure.text(row) + (i === 0 ? escapedMarkdown(markOf(row)) : '');
      }),
    ),
  ]);
  return [...markdownTable({ heads, lines: body }), ''];
}

function comparedLines(run: Run): string[] {
  const table = againstTable(run);
  if (!table) return [];
  const heads = table.heads.map(escapedMarkdown);
  return [againstTitle, '', ...markdownTable({ ...table, heads }), ''];
}

/** Of a matrix that no page holds: its slowest ranks. */
function worstLines(matrix: Matrix): string[] {
  const ranked = worstRanks(matrix);
  const lines = ranked.map(({ name, out, into, worst }) => [
    escapedMarkdown(name),
    ...[out, into, worst].map(percentText),
  ]);
  const title = escapedMarkdown(worstTitle(matrix, ranked.length));
  return [title, '', ...markdownTable({ heads: worstHeads, lines, left: [0] }), ''];
}

function matrixLines({ title, names, cells }: Matrix): string[] {
  const heads = ['from / to', ...names.map(escapedMarkdown)];
  const lines = cells.map((line, from) => [
    escapedMarkdown(names[from]!),
    ...line.map((cell) => cell?.text ?? ''),
  ]);
  return [escapedMarkdown(title), '', ...markdownTable({ heads, lines }), ''];
}
