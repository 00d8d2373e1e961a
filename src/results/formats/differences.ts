import { type Difference, oddText, usualText } from '../../analysis/hosts/differences.js';
import { alignedTable, escapedMarkdown, markdownTable, type PlainTable } from './plain-table.js';

function tableOf(differences: readonly Difference[]): PlainTable {
  const heads = ['differs', 'most hosts', 'odd ones out'];
  const lines = differences.map((one) => [one.title, usualText(one) ?? '-', oddText(one)]);
  return { heads, lines, left: [0, 1, 2] };
}

/** What differs between hosts, a line each; nothing where all are alike. */
export const differenceLines = (differences: readonly Difference[]): string[] =>
  differences.length === 0 ? [] : alignedTable(tableOf(differences));

export function differenceMarkdown(differences: readonly Difference[]): string[] {
  if (differences.length === 0) return [];
  const { lines, ...table } = tableOf(differences);
  return [
    ...markdownTable({ ...table, lines: lines.map((line) => line.map(escapedMarkdown)) }),
    '',
  ];
}
