import { microseconds } from '../../measure/units.js';
import { fabricName } from '../fabric-name.js';
import type { Row, Run } from '../schema.js';
import { pieces, type RowsFrom } from './pieces.js';

export type CsvValue = string | number | boolean | null | undefined;

const us = (nanoseconds: number | null | undefined): number | undefined =>
  nanoseconds == null ? undefined : Number(microseconds(nanoseconds).toFixed(3));
const rounded = (value: number | null): number | undefined =>
  value === null ? undefined : Number(value.toFixed(4));

/** The first eight are the columns of the published reference data, so one reader takes both. */
const fields: Record<string, (row: Row, run: Run) => CsvValue> = {
  benchmark: (_, run) => run.benchmark,
  nodes: (_, run) => run.world.hosts.length,
  config: (row) => row.column,
  size_bytes: (row) => row.bytes,
  count: (row) => row.count,
  gbps: (row) => rounded(row.gbps),
  busbw_pct: (row) => rounded(row.busbwPercent),
  lat_us: (row) => us(row.nanoseconds?.mean),
  outcome: (row) => row.outcome,
  reason: (row) => row.reason,
  noisy: (row) => row.noisy,
  memory: (row) => row.labels.memory,
  kind: (row) => row.kind,
  from: (row) => row.labels.from,
  to: (row) => row.labels.to,
  producer: (row) => row.labels.producer,
  grid: (row) => row.labels.grid,
  block: (row) => row.labels.block,
  path: (row) => row.labels.path,
  mops: (row) => rounded(row.mops ?? null),
  loss_pct: (row) => rounded(row.lossPercent ?? null),
  ranks: (_, run) => run.world.ranks,
  provider: (_, run) => fabricName(run.fabric),
  iterations: (row) => row.iterations,
  batch: (row) => row.batch,
  line_gbps: (row) => rounded(row.lineGbps),
  line_pct: (row) => rounded(row.linePercent),
  of_bound_pct: (row) => rounded(row.ofBoundPercent),
  algbw_gbytes: (row) => rounded(row.algbwGBps ?? null),
  busbw_gbytes: (row) => rounded(row.busbwGBps ?? null),
  half_us: (row) => us(row.halfRoundTripNanoseconds),
  min_us: (row) => us(row.nanoseconds?.min),
  p50_us: (row) => us(row.nanoseconds?.p50),
  p95_us: (row) => us(row.nanoseconds?.p95),
  p99_us: (row) => us(row.nanoseconds?.p99),
  max_us: (row) => us(row.nanoseconds?.max),
  stddev_us: (row) => us(row.nanoseconds?.stddev),
  ci95_low_us: (row) => us(row.nanoseconds?.ci95?.[0]),
  ci95_high_us: (row) => us(row.nanoseconds?.ci95?.[1]),
  checked_bytes: (row) => row.checked.bytes,
  wrong_bytes: (row) => row.checked.wrong,
  run: (_, run) => run.id,
  rail: (row) => row.labels.rail,
  resent: (row) => row.resent,
  path_as_planned: (row) => row.path?.asPlanned,
  path_note: (row) => row.path?.text,
  started_at: (_, run) => run.startedAt,
};

/** RFC 4180; one line per row, what is not known is empty. Samples stay in the run file. The first piece are the heads. */
export function* csvPieces(run: Run, { rows = run.rows }: RowsFrom = {}): Generator<string> {
  yield csvText([Object.keys(fields)]);
  for (const some of pieces(rows)) {
    yield csvText(some.map((row) => Object.values(fields).map((field) => field(row, run))));
  }
}

export const formatCsv = (run: Run): string => [...csvPieces(run)].join('');

/** One line of heads, one line per record, no comments: what pandas, DuckDB and spreadsheets read as it is. */
export const csvText = (lines: readonly (readonly CsvValue[])[]): string =>
  lines.map((line) => `${line.map(quoted).join(',')}\r\n`).join('');

function quoted(value: CsvValue): string {
  const text = String(value ?? '');
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
