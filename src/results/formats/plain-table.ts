/** A table of words: heads and lines of as many cells. `left` names the columns that begin at the left. */
export interface PlainTable {
  readonly heads: readonly string[];
  readonly lines: readonly (readonly string[])[];
  readonly left?: readonly number[];
}

const gap = '  ';

function padded({ heads, lines, left = [] }: PlainTable) {
  const widths = heads.map((head, i) =>
    Math.max(head.length, ...lines.map((line) => line[i]!.length)),
  );
  const pad = (cells: readonly string[]) =>
    cells.map((cell, i) =>
      left.includes(i) ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!),
    );
  return { widths, pad };
}

/** Names of runs have line ends where somebody put them: one line of the table stays one. */
export function alignedTable(table: PlainTable): string[] {
  const flat = (cells: readonly string[]) => cells.map((cell) => cell.replaceAll(/[\r\n]+/g, ' '));
  const heads = flat(table.heads);
  const lines = table.lines.map(flat);
  const { pad } = padded({ ...table, heads, lines });
  return [heads, ...lines].map((cells) => pad(cells).join(gap).trimEnd());
}

/** The same in Markdown; cells must be escaped already. */
export function markdownTable(table: PlainTable): string[] {
  const { widths, pad } = padded(table);
  const written = (cells: readonly string[]) => `| ${pad(cells).join(' | ')} |`;
  const rules = widths.map((width, i) =>
    table.left?.includes(i) ? `:${'-'.repeat(width + 1)}` : `${'-'.repeat(width + 1)}:`,
  );
  return [written(table.heads), `|${rules.join('|')}|`, ...table.lines.map(written)];
}

/** Text that Markdown takes for text, on one line. */
export const escapedMarkdown = (text: string): string =>
  text.replace(/\s+/g, ' ').replace(/[\\`*_|<>~[\]]/g, '\\$&');
