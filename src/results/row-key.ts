import { groupBy } from '../measure/group.js';
import type { Row } from './schema.js';

/** What a row measured. */
export type RowSubject = Pick<Row, 'kind' | 'column' | 'bytes' | 'labels'>;

/** What a row measured, whatever came out: rows of two runs, or repeats in one, belong together when it is equal. */
export function rowKey({ kind, column, bytes, labels }: RowSubject): string {
  const { from, to, rail, grid, block, producer } = labels;
  return JSON.stringify([kind, column, bytes, from, to, rail, grid, block, producer]);
}

/** Rows that belong together, in the order of their first. */
export const rowsByKey = (rows: readonly Row[]): Map<string, Row[]> => groupBy(rows, rowKey);
