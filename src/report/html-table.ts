import { escapeMarkup } from './escape.js';

export interface Cell {
  readonly text: string;
  /** Names of classes, never text from a file. */
  readonly classes?: string;
  readonly span?: number;
}

interface HtmlTable {
  readonly caption: string;
  /** Rows of headings; the last one names the columns. */
  readonly heads: readonly (readonly Cell[])[];
  readonly rows: readonly (readonly Cell[])[];
}

/** A table that scrolls sideways in its own box, also by keyboard. The first cell of a row is its heading. */
export function htmlTable({ caption, heads, rows }: HtmlTable): string {
  const name = escapeMarkup(caption);
  return [
    `<div class="scroll" tabindex="0" role="group" aria-label="${name}">`,
    `<table><caption>${name}</caption><thead>`,
    ...heads.map((row) => `<tr>${row.map(headCell).join('')}</tr>`),
    '</thead><tbody>',
    ...rows.map((row) => `<tr>${row.map(bodyCell).join('')}</tr>`),
    '</tbody></table></div>',
  ].join('\n');
}

const attributes = ({ classes = '', span = 1 }: Cell): string =>
  `${classes === '' ? '' : ` class="${classes}"`}${span > 1 ? ` colspan="${span}"` : ''}`;

const headCell = (cell: Cell): string =>
  cell.text === ''
    ? `<td${attributes(cell)}></td>`
    : `<th scope="${(cell.span ?? 1) > 1 ? 'colgroup' : 'col'}"${attributes(cell)}>${escapeMarkup(cell.text)}</th>`;

const bodyCell = (cell: Cell, index: number): string =>
  index === 0
    ? `<th scope="row"${attributes(cell)}>${escapeMarkup(cell.text)}</th>`
    : `<td${attributes(cell)}>${escapeMarkup(cell.text)}</td>`;
