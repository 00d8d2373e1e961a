import type { Row } from '../schema.js';

export interface RowsFrom {
  /** In place of the run's own: of a large matrix, those in memory lack some figures. */
  readonly rows?: Iterable<Row>;
}

const itemsAtOnce = 1000;

/** All items, some at a time: what is written of millions is too long for one text. */
export function* pieces<Item>(items: Iterable<Item>): Generator<Item[]> {
  let some: Item[] = [];
  for (const item of items) {
    if (some.push(item) < itemsAtOnce) continue;
    yield some;
    some = [];
  }
  if (some.length > 0) yield some;
}
