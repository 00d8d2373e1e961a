import { predictionSchemaName, type Row, type Run } from '../schema.js';

/** One object, indented, with lists of numbers on one line: samples are many. */
export function formatJson(run: Run): string {
  const { schema, id, benchmark, startedAt, endedAt, outcome, ...rest } = run;
  if (run.model) return formatPredictions([run]);
  return `${written({ schema, id, benchmark, startedAt, endedAt, outcome, ...rest }, '')}\n`;
}

/**
 * Predictions that differ in their worlds as one object: a row names its nodes and ranks. Nothing that only a measurement
 * has: no fabric, no samples, no percentiles.
 */
export function formatPredictions(runs: readonly Run[]): string {
  const { id, benchmark, world, model, settings, errors } = runs.at(-1)!;
  const rows = runs.flatMap((run) => run.rows.map((row) => predictedRow(row, run)));
  const schema = predictionSchemaName;
  return `${written({ schema, id, benchmark, world, model, settings, rows, errors }, '')}\n`;
}

const predictedRow = (row: Row, { world }: Run): object => ({
  nodes: world.hosts.length,
  ranks: world.ranks,
  column: row.column,
  bytes: row.bytes,
  count: row.count,
  gbps: row.gbps,
  lineGbps: row.lineGbps,
  busbwPercent: row.busbwPercent,
  linePercent: row.linePercent,
  nanoseconds: row.nanoseconds && { mean: row.nanoseconds.mean },
  interval: row.interval,
  halfRoundTripNanoseconds: row.halfRoundTripNanoseconds,
  algbwGBps: row.algbwGBps,
  busbwGBps: row.busbwGBps,
});

function written(value: unknown, indent: string): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    if (value.every((item) => typeof item !== 'object' || item === null)) {
      return `[${value.map((item) => JSON.stringify(item)).join(', ')}]`;
    }
    return `[\n${value.map((item) => inner + written(item, inner)).join(',\n')}\n${indent}]`;
  }
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  if (entries.length === 0) return '{}';
  const lines = entries.map(
    ([key, item]) => `${inner}${JSON.stringify(key)}: ${written(item, inner)}`,
  );
  return `{\n${lines.join(',\n')}\n${indent}}`;
}
