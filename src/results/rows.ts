import { type Figures, type NcclFigures, noFigures } from '../measure/figures.js';
import { isNoisy, summarize } from '../measure/statistics.js';
import type { Path } from './path.js';
import type { RowKindName } from './row-kinds.js';
import type { Breakdown, Labels, Outcome, PerPeer, PerRank, Row } from './schema.js';

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

export interface MeasuredRow extends RowSubject {
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
  readonly failure?: string;
  readonly mops?: number;
  readonly lossPercent?: number;
  readonly breakdown?: Breakdown;
  readonly peakGbps?: number;
  readonly nccl?: Pick<NcclFigures, 'algbw' | 'busbw'>;
  readonly resent?: number;
  readonly path?: Path | undefined;
  readonly perPeer?: PerPeer[];
  readonly perRank?: PerRank[];
}

/** Sizes are counted in 4-byte elements, as the reference tables do. */
export const elementBytes = 4;

export const countOf = (bytes: number): number => Math.floor(bytes / elementBytes);

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
  const { samples, batch = 1, checked, failure } = row;
  const nanoseconds = summarize(samples, batch);
  const wrong =
    checked.wrong > 0 ? `${checked.wrong} of ${checked.bytes} bytes are wrong` : undefined;
  const reason = failure ?? wrong;
  return {
    kind: row.kind ?? 'transfer',
    column: row.column,
    bytes: row.bytes,
    count: countOf(row.bytes),
    outcome: reason === undefined ? 'passed' : 'failed',
    ...(reason !== undefined && { reason }),
    noisy: row.noisy ?? isNoisy(samples),
    labels: row.labels ?? {},
    iterations: samples.length * batch,
    batch,
    nanoseconds,
    samples: [...samples],
    ...(row.figures ?? noFigures),
    ...(row.roundTrip && { halfRoundTripNanoseconds: nanoseconds.mean / 2 }),
    ...(row.mops !== undefined && { mops: row.mops }),
    ...(row.lossPercent !== undefined && { lossPercent: row.lossPercent }),
    ...(row.breakdown && { breakdown: row.breakdown }),
    ...(row.peakGbps !== undefined && { peakGbps: row.peakGbps }),
    ...(row.nccl && { algbwGBps: row.nccl.algbw, busbwGBps: row.nccl.busbw }),
    ...(row.resent !== undefined && { resent: row.resent }),
    ...(row.path && { path: row.path }),
    checked,
    ...(row.perPeer && { perPeer: row.perPeer }),
    ...(row.perRank && { perRank: row.perRank }),
  };
}

/** Aborted before failed before passed; a run in which nothing could run is skipped. */
export function outcomeOf(rows: readonly Pick<Row, 'outcome'>[]): Outcome {
  const has = (outcome: Outcome) => rows.some((row) => row.outcome === outcome);
  if (has('aborted')) return 'aborted';
  if (has('failed')) return 'failed';
  return has('passed') ? 'passed' : 'skipped';
}
