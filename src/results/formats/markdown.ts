import type { Run } from '../schema.js';
import { gridOf } from './grid.js';
import { describeRun, markOf, notesOf } from './notes.js';
import { escapedMarkdown, markdownTable } from './plain-table.js';

/** The reference's Markdown table; its first figure is headed by the column's name. */
export function formatMarkdown(run: Run): string {
  const { columns, figures, lines } = gridOf(run);
  const heads = ['Size', 'Count'];
  for (const column of columns) {
    figures.forEach((figure, i) => {
      heads.push(i === 0 ? escapedMarkdown(`${column} (${figure.longTitle})`) : figure.longTitle);
    });
  }
  const body = lines.map(({ size, count, cells }) => [
    size,
    count,
    ...cells.flatMap((row) =>
      figures.map((figure, i) => {
        if (row === undefined) return '';
        return figure.text(row) + (i === 0 ? escapedMarkdown(markOf(row)) : '');
      }),
    ),
  ]);
  const table = columns.length === 0 ? [] : [...markdownTable({ heads, lines: body }), ''];
  const notes = notesOf(run).map(({ text }) => `- ${escapedMarkdown(text)}`);
  return `${[`**${escapedMarkdown(describeRun(run))}**`, '', ...table, ...notes].join('\n')}\n`;
}
