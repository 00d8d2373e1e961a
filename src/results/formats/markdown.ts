import type { Run } from '../schema.js';
import { gridOf, leadOf } from './grid.js';
import { describeRun, markOf, notesOf } from './notes.js';
import { escapedMarkdown, markdownTable } from './plain-table.js';

/** The reference's Markdown table; its first figure is headed by the column's name. */
export function formatMarkdown(run: Run): string {
  const grid = gridOf(run);
  const { columns, figures, lines } = grid;
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
  const table = columns.length === 0 ? [] : [...markdownTable({ heads, lines: body }), ''];
  const notes = notesOf(run).map(({ text }) => `- ${escapedMarkdown(text)}`);
  return `${[`**${escapedMarkdown(describeRun(run))}**`, '', ...table, ...notes].join('\n')}\n`;
}
