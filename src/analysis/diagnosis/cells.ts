import { gbpsOf } from '../../measure/units.js';
import { type PairMetric, pairMetricOf } from '../../results/column-name.js';
import type { Row, Run } from '../../results/schema.js';

/** One directed pair, on one rail or over all of them, in one metric. */
export interface Cell {
  readonly from: number;
  readonly to: number;
  /** Undefined: over all channels together. */
  readonly rail: number | undefined;
  /** A logarithm; less is worse. */
  readonly value: number;
}

export interface Places {
  /** By rank. */
  readonly hosts: readonly string[];
  /** The channels' interfaces, by rail. */
  readonly nics: readonly string[];
  /** By rank, where the network is known and has several leaves. */
  readonly leaves?: readonly string[];
  readonly spines?: readonly string[];
}

/** Everything the scan measured of one directed pair. */
export interface PairCell {
  readonly from: number;
  readonly to: number;
  readonly rail: number | undefined;
  /** Of the median sample: a moment's stall is not a slow link. */
  readonly gbps?: number;
  /** Half a round trip: the median, and the mean with all its stalls. */
  readonly latencyNs?: number;
  readonly latencyMeanNs?: number;
  readonly resent?: number;
}

export interface PairMatrix extends Places {
  readonly cells: readonly PairCell[];
}

/** Rails are named in labels as channels are: `nic1`, or `1` where the channel has no name of its own. */
export const railLabel = (nics: readonly string[], rail: number): string =>
  nics.indexOf(nics[rail]!) === rail && nics.lastIndexOf(nics[rail]!) === rail
    ? nics[rail]!
    : String(rail);

export function placesOf(run: Pick<Run, 'world' | 'fabric'>): Places {
  const { hosts, hostOfRank, ranks } = run.world;
  const byRank = hostOfRank ?? Array.from({ length: ranks }, (_, r) => hosts[r] ?? hosts[0] ?? '');
  return { hosts: byRank, nics: run.fabric.channels.map(({ nic }, i) => nic ?? String(i)) };
}

/** Worlds have at most 32,768 ranks. A number: a million texts would take ten times the memory. */
export const pairKey = (from: number, to: number, rail = -1): number =>
  ((rail + 1) * 2 ** 15 + from) * 2 ** 15 + to;

/** The cells of rows between pairs, as they come: bandwidth of the last size, and latency. */
export class CellTable {
  readonly #rails: ReadonlyMap<string, number>;
  readonly #metrics: readonly PairMetric[];
  readonly #cells = new Map<number, { -readonly [Key in keyof PairCell]: PairCell[Key] }>();

  constructor({ nics }: Places, metrics: readonly PairMetric[]) {
    this.#rails = new Map(nics.map((_, rail) => [railLabel(nics, rail), rail]));
    this.#metrics = metrics;
  }

  get cells(): PairCell[] {
    return [...this.#cells.values()];
  }

  add(row: Row): void {
    const { from, to, rail: label } = row.labels;
    if (from === undefined || to === undefined || row.nanoseconds === null) return;
    const metric = pairMetricOf(row);
    if (!this.#metrics.includes(metric)) return;
    const rail = label === undefined ? undefined : this.#rails.get(label);
    const key = pairKey(from, to, rail);
    const cell = this.#cells.get(key) ?? { from, to, rail };
    if (!this.#cells.has(key)) this.#cells.set(key, cell);
    const { mean, p50 } = row.nanoseconds;
    if (row.resent !== undefined) cell.resent = (cell.resent ?? 0) + row.resent;
    if (metric === 'latency') {
      cell.latencyNs = p50 / 2;
      cell.latencyMeanNs = mean / 2;
    } else cell.gbps = p50 > 0 ? gbpsOf(row.bytes ?? 0, p50) : 0;
  }
}

/** Of the matrix; and of each rail alone, in one round. */
export const matrixMetrics = ['bandwidth', 'latency'] as const;
export const railMetrics = ['rail'] as const;
