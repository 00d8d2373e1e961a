/**
 * What a row measured, from the name of its column. Run files of every version are read for ever, and some facts stand
 * only in that name: nothing else takes names apart. Browsers load this as well: it imports nothing.
 */
import type { Row } from './schema.js';

interface ColumnTraits {
  readonly strategy?: 'single' | 'multi' | 'round-robin';
  /** The memory that was asked for; `labels.memory` says what was used. */
  readonly memory?: 'host' | 'pinned' | 'device';
  /** How a producer waits for its requests: after each, or once after all of them. */
  readonly waits?: 'blocking' | 'nbi';
}

const parts: Readonly<Record<string, ColumnTraits>> = {
  Single: { strategy: 'single' },
  Multi: { strategy: 'multi' },
  RoundRobin: { strategy: 'round-robin' },
  Host: { memory: 'host' },
  Pin: { memory: 'pinned' },
  Device: { memory: 'device' },
  DMA: { memory: 'device' },
  Blocking: { waits: 'blocking' },
  NBI: { waits: 'nbi' },
};
const partsIn = new RegExp(Object.keys(parts).join('|'), 'g');

/** Of `RoundRobinDMA`: round-robin, device; empty where a name says nothing of this kind. */
export const traitsOf = (column: string): ColumnTraits =>
  Object.assign({}, ...(column.match(partsIn) ?? []).map((part) => parts[part]));

/** The columns of `pairs`. `rail`: one round on each rail alone, beside a matrix over all rails together. */
export const pairColumns = { bandwidth: 'Bandwidth', latency: 'Latency', rail: 'Rail' } as const;
export type PairMetric = keyof typeof pairColumns;

export function pairMetricOf(row: Row): PairMetric {
  if (row.column === pairColumns.rail) return 'rail';
  return row.halfRoundTripNanoseconds === undefined ? 'bandwidth' : 'latency';
}
