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

/** The matrix of these rows between pairs: bandwidth of the largest size, and latency. */
export const matrixOf = (places: Places, rows: readonly Row[]): PairMatrix => ({
  ...places,
  cells: cellsOf(places, rows, ['bandwidth', 'latency']),
});

/** What each rail carried alone, in one round. */
export const railCellsOf = (places: Places, rows: readonly Row[]): PairCell[] =>
  cellsOf(places, rows, ['rail']);

function cellsOf({ nics }: Places, rows: readonly Row[], metrics: readonly PairMetric[]) {
  const rails = new Map(nics.map((_, rail) => [railLabel(nics, rail), rail]));
  const cells = new Map<string, PairCell>();
  for (const row of rows) {
    const { from, to, rail: label } = row.labels;
    if (from === undefined || to === undefined || row.nanoseconds === null) continue;
    if (!metrics.includes(pairMetricOf(row))) continue;
    const rail = label === undefined ? undefined : rails.get(label);
    const key = `${from} ${to} ${rail}`;
    const before = cells.get(key) ?? { from, to, rail };
    cells.set(key, { ...before, ...figuresOf(row, before) });
  }
  return [...cells.values()];
}

function figuresOf(row: Row, before: PairCell): Partial<PairCell> {
  const { mean, p50 } = row.nanoseconds!;
  const sum = row.resent === undefined ? before.resent : (before.resent ?? 0) + row.resent;
  const resent = sum === undefined ? {} : { resent: sum };
  if (pairMetricOf(row) === 'latency') {
    return { ...resent, latencyNs: p50 / 2, latencyMeanNs: mean / 2 };
  }
  // Of several sizes the last, which is the largest, is the bandwidth.
  return { ...resent, gbps: p50 > 0 ? gbpsOf(row.bytes ?? 0, p50) : 0 };
}
