import { groupBy } from '../../measure/group.js';
import { formatBytes } from '../../measure/units.js';
import { noValue } from '../row-figures.js';
import type { Row, Run } from '../schema.js';
import type { PlainTable } from './plain-table.js';

type Compared = Row & { readonly against: NonNullable<Row['against']> };

const comparedRows = ({ rows }: Run): Compared[] =>
  rows.filter((row): row is Compared => (row.against?.ratios.length ?? 0) > 0);

/** Of `Dispatch-mpi`, where a library does one of several things: mpi. */
const libraryOf = ({ column }: Row): string => column.slice(column.lastIndexOf('-') + 1);

/** What the table of `againstTable` is about. */
export const againstTitle =
  'Weft’s time over the other library’s (95 % interval); below 1, Weft is faster';

/** A line per size and column of Weft's, a column per library; undefined where nothing was compared. */
export function againstTable(run: Run): PlainTable | undefined {
  const rows = comparedRows(run);
  if (rows.length === 0) return undefined;
  const libraries = [...new Set(rows.map(libraryOf))];
  const versions = libraries.map(
    (id) => rows.find((row) => libraryOf(row) === id)!.against.library,
  );
  const lines = [...groupBy(rows, ({ bytes }) => bytes).values()].flatMap((ofSize) => {
    const columns = new Set(ofSize.flatMap(({ against }) => against.ratios.map((r) => r.column)));
    return [...columns].flatMap((column) => linesOf(column, ofSize, libraries));
  });
  const heads = libraries.map((id, i) => `${id} (${versions[i]})`);
  return { heads: ['Size', 'Column', ...heads], lines, left: [1] };
}

/** One line, or two where a library's time includes more than its call. */
function linesOf(column: string, rows: readonly Compared[], libraries: readonly string[]) {
  const found = libraries.map((id) => {
    const own = rows.filter((row) => libraryOf(row) === id);
    const row = own.find(({ against }) => against.ratios.some((one) => one.column === column));
    const ratio = row?.against.ratios.find((one) => one.column === column);
    return { includes: row?.against.includes, ratio };
  });
  const line = (name: string, ratios: readonly (Ratio | undefined)[]) => [
    formatBytes(rows[0]!.bytes ?? 0),
    name,
    ...ratios.map(ratioText),
  ];
  const includes = found.find((one) => one.includes !== undefined)?.includes;
  const all = found.map(({ ratio }) => ratio);
  if (includes === undefined) return [line(column, all)];
  return [
    line(`${column}, with ${includes}`, all),
    line(
      `${column}, call alone`,
      found.map(({ ratio }) => ratio?.callAlone ?? ratio),
    ),
  ];
}

type Ratio = Pick<Compared['against']['ratios'][number], 'ratio' | 'interval'>;

/** `0.84 (0.80-0.88)` */
function ratioText(found: Ratio | undefined): string {
  if (!found) return noValue;
  const [ratio, low, high] = [found.ratio, ...found.interval].map((value) => value.toFixed(2));
  return `${ratio} (${low}-${high})`;
}
