import { type Figures, type NcclFigures, noFigures } from '../measure/figures.js';
import { isNoisy, summarize } from '../measure/statistics.js';
import type { RowKindName } from './row-kinds.js';
import type { Labels, Outcome, Row } from './schema.js';
import type { WorkloadKey } from './workload-figures.js';

interface RowSubject {
  readonly kind?: RowKindName;
  readonly column: string;
  readonly labels?: Labels;
}

interface SkippedRow extends RowSubject {
  /** Absent: the whole column is skipped. */
  readonly bytes?: number;
  readonly outcome?: Exclude<Outcome, 'passed'>;
  readonly reason: string;
}

type Extras = Pick<
  Row,
  | WorkloadKey
  | 'mops'
  | 'algorithm'
  | 'routing'
  | 'lossPercent'
  | 'breakdown'
  | 'requestTimes'
  | 'peakGbps'
  | 'resent'
  | 'path'
  | 'against'
  | 'perPeer'
  | 'perRank'
>;

export interface MeasuredRow extends RowSubject, Extras {
  readonly bytes: number;
  /** Integer nanoseconds, each the duration of `batch` iterations. */
  readonly samples: readonly number[];
  readonly batch?: number;
  /** Absent where bytes over time say nothing. */
  readonly figures?: Figures;
  readonly roundTrip?: boolean;
  readonly checked: Row['checked'];
  /** Default: from the samples. A caller whose pairs take turns judges each pair by itself. */
  readonly noisy?: boolean;
  readonly failure?: string | undefined;
  readonly nccl?: Pick<NcclFigures, 'algbw' | 'busbw'>;
}

/** Sizes are counted in 4-byte elements, as the reference tables do. */
export const countOf = (bytes: number): number => Math.floor(bytes / 4);

/** A row without a measurement: skipped, or with another outcome failed or aborted before one. */
export function skippedRow({ bytes, outcome = 'skipped', reason, ...subject }: SkippedRow): Row {
  return {
    kind: subject.kind ?? 'transfer',
    column: subject.column,
    bytes: bytes ?? null,
    count: bytes === undefined ? null : countOf(bytes),
    outcome,
    reason,
    noisy: false,
    labels: subject.labels ?? {},
    iterations: 0,
    batch: 1,
    nanoseconds: null,
    samples: [],
    ...noFigures,
    checked: { bytes: 0, wrong: 0 },
  };
}

/** A wrong byte fails the row, whatever else is said about it. */
export function measuredRow(row: MeasuredRow): Row {
  const { kind = 'transfer', labels = {}, figures = noFigures, roundTrip, nccl, ...rest } = row;
  const { column, bytes, samples, batch = 1, noisy = isNoisy(samples), failure, ...said } = rest;
  const nanoseconds = summarize(samples, batch);
  const { bytes: checked, wrong } = row.checked;
  const reason = failure ?? (wrong > 0 ? `${wrong} of ${checked} bytes are wrong` : undefined);
  return {
    kind,
    column,
    bytes,
    count: countOf(bytes),
    outcome: reason === undefined ? 'passed' : 'failed',
    ...(reason !== undefined && { reason }),
    noisy,
    labels,
    iterations: samples.length * batch,
    batch,
    nanoseconds,
    samples: [...samples],
    ...figures,
    ...(roundTrip && { halfRoundTripNanoseconds: nanoseconds.mean / 2 }),
    ...(nccl && { algbwGBps: nccl.algbw, busbwGBps: nccl.busbw }),
    ...said,
  };
}

/** Aborted before failed before passed; a run in which nothing could run is skipped. */
export function outcomeOf(rows: readonly Pick<Row, 'outcome'>[]): Outcome {
  const has = (outcome: Outcome) => rows.some((row) => row.outcome === outcome);
  if (has('aborted')) return 'aborted';
  if (has('failed')) return 'failed';
  return has('passed') ? 'passed' : 'skipped';
}
