import type { Run } from '../schema.js';
import { gridOf } from './grid.js';
import { describeRun, markOf, notesOf } from './notes.js';

/** The reference's Markdown table; its first figure is headed by the column's name. */
export function formatMarkdown(run: Run): string {
  const { columns, figures, lines } = gridOf(run);
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
  const widths = heads.map((head, i) =>
    Math.max(head.length, ...body.map((line) => line[i]!.length)),
  );
  const written = (cells: readonly string[]) =>
    `| ${cells.map((cell, i) => cell.padStart(widths[i]!)).join(' | ')} |`;
  const rule = `|${widths.map((width) => `${'-'.repeat(width + 1)}:`).join('|')}|`;
  const table = columns.length === 0 ? [] : [written(heads), rule, ...body.map(written), ''];
  const notes = notesOf(run).map(({ text }) => `- ${escaped(text)}`);
  return `${[`**${escaped(describeRun(run))}**`, '', ...table, ...notes].join('\n')}\n`;
}

/** Text that Markdown takes for text, on one line. */
function escaped(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\`*_|<>~[\]]/g, '\\$&');
}
