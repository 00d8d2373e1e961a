import { formatBytes } from '../measure/units.js';
import type { Row } from './schema.js';

type Subject = Pick<Row, 'column' | 'bytes' | 'labels'>;

/** `MultiPin 16M`, or the column alone where a row stands for all of it. */
export const sizedName = ({ column, bytes }: Pick<Row, 'column' | 'bytes'>): string =>
  bytes === null ? column : `${column} ${formatBytes(bytes)}`;

/** What tells a row from the others of its benchmark: `MultiPin 16M`, `Bandwidth 0→2 nic1`, `Kernel 1G 128x256`. */
export function nameOfRow(row: Subject): string {
  const { from, to, rail, grid, block } = row.labels;
  return [
    sizedName(row),
    ...(from === undefined ? [] : [`${from}→${to}`]),
    ...(rail === undefined ? [] : [rail]),
    ...(grid === undefined ? [] : [`${grid}x${block}`]),
  ].join(' ');
}
