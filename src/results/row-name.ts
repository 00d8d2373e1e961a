import { formatBytes } from '../measure/units.js';
import type { Row } from './schema.js';

type Subject = Pick<Row, 'column' | 'bytes' | 'labels'>;

/** `MultiPin 16M`, or the column alone where a row stands for all of it. */
export const sizedName = ({ column, bytes }: Pick<Row, 'column' | 'bytes'>): string =>
  bytes === null ? column : `${column} ${formatBytes(bytes)}`;

/** What tells a row from the others of its benchmark: `MultiPin 16M`, `Bandwidth 0→2 nic1`, `Bandwidth 0→all`. */
export function nameOfRow(row: Subject): string {
  const { from, to, rail, grid, block } = row.labels;
  return [
    sizedName(row),
    ...(from === undefined && to === undefined ? [] : [`${from ?? 'all'}→${to ?? 'all'}`]),
    ...(rail === undefined ? [] : [rail]),
    ...(grid === undefined ? [] : [`${grid}x${block}`]),
  ].join(' ');
}
