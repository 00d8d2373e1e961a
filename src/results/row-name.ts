import { formatBytes } from '../measure/units.js';
import type { Row } from './schema.js';

/** What tells a row from the others of its benchmark: `MultiPin 16M`, `Bandwidth 0→2 nic1`, `Kernel 1G 128x256`. */
export function nameOfRow({
  column,
  bytes,
  labels,
}: Pick<Row, 'column' | 'bytes' | 'labels'>): string {
  const { from, to, rail, grid, block } = labels;
  return [
    column,
    ...(bytes === null ? [] : [formatBytes(bytes)]),
    ...(from === undefined ? [] : [`${from}→${to}`]),
    ...(rail === undefined ? [] : [rail]),
    ...(grid === undefined ? [] : [`${grid}x${block}`]),
  ].join(' ');
}
