import { formatBytes } from '../../measure/units.js';
import { shapeOf } from '../../report/lines.js';
import { markOf } from '../../results/formats/notes.js';
import type { Row } from '../../results/schema.js';
import { element, tableBox } from './dom.js';
import { micros, percent, rateText } from './words.js';

interface Column {
  readonly title: string;
  text(row: Row): string;
}

const columns: readonly Column[] = [
  { title: 'Size', text: ({ bytes }) => (bytes === null ? 'all' : formatBytes(bytes)) },
  { title: 'Column', text: nameOf },
  { title: 'Rate', text: (row) => rateText(row) + markOf(row) },
  { title: 'BusBW %', text: (row) => percent(row.busbwPercent) },
  { title: 'Of bound %', text: (row) => percent(row.ofBoundPercent) },
  { title: 'Mean us', text: (row) => micros(row.nanoseconds?.mean) },
  { title: 'p50 us', text: (row) => micros(row.nanoseconds?.p50) },
  { title: 'p99 us', text: (row) => micros(row.nanoseconds?.p99) },
  { title: 'Outcome', text: outcomeText },
];

function nameOf({ column, labels }: Row): string {
  const { from, to, rail = '' } = labels;
  const pair = from === undefined || to === undefined ? '' : `${from}→${to}`;
  return [column, shapeOf(labels), pair, rail].filter((part) => part !== '').join(' ');
}

/** With what is wrong with the row, and with the way its bytes went. */
function outcomeText({ outcome, reason, path }: Row): string {
  return [reason ? `${outcome}: ${reason}` : outcome, ...(path?.text ? [path.text] : [])].join(
    '; ',
  );
}

/**
 * The rows of a run in a box of fixed height that scrolls by itself. While its end is in view, it stays in view; who
 * scrolled up is left there.
 */
export class RowsTable {
  readonly root: HTMLElement;
  readonly #body = element('tbody');
  #shown = 0;

  constructor(label: string) {
    const heads = columns.map(({ title }, i) =>
      element('th', { scope: 'col', class: classOf(i) }, title),
    );
    this.root = tableBox(label, label, element('tr', {}, ...heads), this.#body);
  }

  set(rows: readonly Row[]): void {
    if (rows.length < this.#shown) this.clear();
    const { scrollTop, clientHeight, scrollHeight } = this.root;
    const atEnd = scrollTop + clientHeight >= scrollHeight - 4;
    const fresh = document.createDocumentFragment();
    for (const row of rows.slice(this.#shown)) fresh.append(lineOf(row));
    this.#body.append(fresh);
    const first = this.#shown === 0;
    this.#shown = rows.length;
    if (atEnd && !first) this.root.scrollTop = this.root.scrollHeight;
  }

  /** These rows and no others. */
  replace(rows: readonly Row[]): void {
    this.clear();
    this.set(rows);
  }

  clear(): void {
    this.#body.replaceChildren();
    this.#shown = 0;
  }
}

/** Numbers to the right, names and reasons to the left. */
const classOf = (index: number): string | undefined => {
  if (index === 1) return 'text';
  return index === columns.length - 1 ? 'text wide' : undefined;
};

function lineOf(row: Row): HTMLElement {
  const cells = columns.map(({ text }, i) => element('td', { class: classOf(i) }, text(row)));
  if (row.noisy) cells[2]!.classList.add('noisy');
  if (row.path?.asPlanned === false) cells[2]!.classList.add('failed');
  return element('tr', { class: row.outcome }, ...cells);
}
