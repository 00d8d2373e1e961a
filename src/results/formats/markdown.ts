import type { Run } from '../schema.js';
import { gridOf } from './grid.js';
import { isMatrixRun, type Matrix, matricesOf } from './heat-map.js';
import { describeRun, markOf, notesOf } from './notes.js';

/** The reference's Markdown table; its first figure is headed by the column's name. Of pairs, their matrices. */
export function formatMarkdown(run: Run): string {
  const tables = isMatrixRun(run) ? matricesOf(run).flatMap(matrixLines) : gridLines(run);
  const notes = notesOf(run).map(({ text }) => `- ${escaped(text.trim())}`);
  return `${[`**${escaped(describeRun(run))}**`, '', ...tables, ...notes].join('\n')}\n`;
}

function gridLines(run: Run): string[] {
  const { columns, figures, lines } = gridOf(run);
  if (columns.length === 0) return [];
  const heads = ['Size', 'Count'];
  for (const column of columns) {
    figures.forEach((figure, i) => {
      heads.push(i === 0 ? escaped(`${column} (${figure.longTitle})`) : figure.longTitle);
    });
  }
  const body = lines.map(({ size, count, cells }) => [
    size,
    count,
    ...cells.flatMap((row) =>
      figures.map((figure, i) => {
        if (row === undefined) return '';
        return figure.text(row) + (i === 0 ? escaped(markOf(row)) : '');
      }),
    ),
  ]);
  return tableLines(heads, body);
}

function matrixLines({ title, names, cells }: Matrix): string[] {
  const heads = ['from / to', ...names.map(escaped)];
  const body = cells.map((line, from) => [
    escaped(names[from]!),
    ...line.map((cell) => cell?.text ?? ''),
  ]);
  return [escaped(title), '', ...tableLines(heads, body)];
}

function tableLines(heads: readonly string[], body: readonly (readonly string[])[]): string[] {
  const widths = heads.map((head, i) =>
    Math.max(head.length, ...body.map((line) => line[i]!.length)),
  );
  const written = (cells: readonly string[]) =>
    `| ${cells.map((cell, i) => cell.padStart(widths[i]!)).join(' | ')} |`;
  const rule = `|${widths.map((width) => `${'-'.repeat(width + 1)}:`).join('|')}|`;
  return [written(heads), rule, ...body.map(written), ''];
}

/** Text that Markdown takes for text, on one line. */
function escaped(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\`*_|<>~[\]]/g, '\\$&');
}
