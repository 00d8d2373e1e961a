import { isLarge } from '../large-matrix.js';
import { predictionSchemaName, type Row, type Run } from '../schema.js';
import { pieces, type RowsFrom } from './pieces.js';
import { approximations } from './prediction-notes.js';

/** One object, indented, with lists of numbers on one line: samples are many. A row of a large matrix is one line. */
export function* jsonPieces(run: Run, { rows = run.rows }: RowsFrom = {}): Generator<string> {
  if (run.model) return yield formatPredictions([run]);
  const { schema, id, benchmark, startedAt, endedAt, outcome, rows: _, ...rest } = run;
  const { world, fabric, settings, ...after } = rest;
  const before = { schema, id, benchmark, startedAt, endedAt, outcome, world, fabric, settings };
  yield `{\n${membersOf(before, '  ').join(',\n')},\n  "rows": [`;
  const rowText = isLarge(run.world) ? JSON.stringify : (row: Row) => written(row, '    ');
  let count = 0;
  for (const some of pieces(rows)) {
    yield `${count === 0 ? '\n' : ',\n'}${some.map((row) => `    ${rowText(row)}`).join(',\n')}`;
    count += some.length;
  }
  const end = membersOf(after, '  ').map((member) => `,\n${member}`);
  yield `${count === 0 ? '' : '\n  '}]${end.join('')}\n}\n`;
}

export const formatJson = (run: Run, options?: RowsFrom): string =>
  [...jsonPieces(run, options)].join('');

/**
 * Predictions that differ in their worlds as one object: a row names its nodes and ranks. Nothing that only a measurement
 * has: no fabric, no samples, no percentiles.
 */
export function formatPredictions(runs: readonly Run[]): string {
  const { id, benchmark, world, model, settings, errors } = runs.at(-1)!;
  const rows = runs.flatMap((run) => run.rows.map((row) => predictedRow(row, run)));
  const notes = approximations(runs.flatMap((run) => run.rows));
  const record = { schema: predictionSchemaName, id, benchmark, world, model, settings };
  return `${written({ ...record, notes, rows, errors }, '')}\n`;
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
  hostsAlike: row.hostsAlike,
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
  const lines = membersOf(value, inner);
  return lines.length === 0 ? '{}' : `{\n${lines.join(',\n')}\n${indent}}`;
}

const membersOf = (value: object, indent: string): string[] =>
  Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .map(([key, item]) => `${indent}${JSON.stringify(key)}: ${written(item, indent)}`);
