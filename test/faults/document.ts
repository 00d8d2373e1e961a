import { readFileSync, writeFileSync } from 'node:fs';
import { type Cell, columnsOf, nameOf } from './cell.js';
import type { Seen } from './run-cell.js';

const path = new URL('../../docs/reliability.md', import.meta.url);
const start = '<!-- matrix: npm run test:faults writes it -->\n';
const head =
  '| fault | hits | phase | what runs | exit | rows kept | message shown |\n|---|---|---|---|---|---|---|\n';

/** What identifies a cell in the document. */
const placeOf = (cell: Cell): string => `| ${columnsOf(cell).join(' | ')} |`;

const tidy = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ');

/** What a cell showed this time; `failed` where it did not end as it must. */
export type Shown = Seen | 'failed';

function lineOf(cell: Cell, seen: Shown | undefined, old: readonly string[]): string {
  const place = placeOf(cell);
  if (cell.knownFailure !== undefined) return `${place} **red** | | ${tidy(cell.knownFailure)} |`;
  if (seen === 'failed') return `${place} **failed** | | |`;
  // Cells that did not run this time keep what they showed before.
  if (seen === undefined) return old.find((line) => line.startsWith(place)) ?? `${place} | | |`;
  const rows = seen.rows === undefined ? '–' : `${seen.rows}, ${seen.outcome}`;
  return `${place} ${seen.exit} | ${rows} | ${seen.message === '' ? '–' : tidy(seen.message)} |`;
}

/** The cells that the document lists, in its order. */
export const listed = (): string[] => tableOf(readFileSync(path, 'utf8')).map(placeIn);

export const expected = (cells: readonly Cell[]): string[] => cells.map(placeOf);

const tableOf = (text: string): string[] =>
  text
    .slice(text.indexOf(start))
    .split('\n')
    .filter((line) => /^\| (?!fault |-)/.test(line) && !/^\|\s*-/.test(line))
    .map((line) => line.replaceAll(/ +/g, ' '));

/** Lines of the table that show no good ending: of cells that failed, or that no run has shown yet. */
export const unfinished = (text: string): string[] =>
  tableOf(text).filter((line) => /failed/.test(exitIn(line)) || exitIn(line).trim() === '');

export const inDocument = (): string[] => unfinished(readFileSync(path, 'utf8'));

const exitIn = (line: string): string => line.split('|')[5] ?? '';

const placeIn = (line: string): string => `|${line.split('|').slice(1, 5).join('|')}|`;

/** Writes the table anew, with what was seen. */
export function writeTable(cells: readonly Cell[], seen: ReadonlyMap<string, Shown>): void {
  writeFileSync(path, withTable(readFileSync(path, 'utf8'), cells, seen));
}

/** The document with the table of these cells. */
export function withTable(
  text: string,
  cells: readonly Cell[],
  seen: ReadonlyMap<string, Shown>,
): string {
  const old = tableOf(text);
  const lines = cells.map((cell) => lineOf(cell, seen.get(nameOf(cell)), old));
  return `${text.slice(0, text.indexOf(start))}${start}\n${head}${lines.join('\n')}\n`;
}
