import { extentOf } from '../../measure/extent.js';
import { coefficientOfVariation } from '../../measure/statistics.js';
import { microseconds } from '../../measure/units.js';
import { fabricName } from '../fabric-name.js';
import type { Row, Run } from '../schema.js';
import {
  averageBusbw,
  type NcclOptions,
  type NcclRow,
  ncclKind,
  ncclRows,
  wrongIn,
} from './nccl.js';
import { pieces } from './pieces.js';

interface NcclJsonOptions extends NcclOptions {
  readonly args?: readonly string[];
}

/**
 * nccl-tests' JSON, version 3. A row's column is its `experiment_name`; truth values are strings
 * there, and "unchecked" where nothing was. What nccl-tests would add of the environment is left out: secrets live there.
 */
export function* ncclJsonPieces(run: Run, options: NcclJsonOptions = {}): Generator<string> {
  const rows = ncclRows(run, options);
  const wrong = wrongIn(rows);
  const report = {
    version: 3,
    start_time: clock(run.startedAt),
    args: options.args ?? [],
    config: configOf(run, rows),
    results: [],
    out_of_bounds: {
      count: wrong ?? 0,
      okay: wrong === undefined ? 'unchecked' : String(wrong === 0),
    },
    average_bus_bandwidth: { bandwidth: averageBusbw(rows), okay: 'unchecked' },
    errors: run.errors.map(({ message }) => message),
    end_time: run.endedAt === null ? null : clock(run.endedAt),
  };
  const empty = '"results": []';
  const text = JSON.stringify(report, null, 2);
  const at = text.lastIndexOf(`\n  ${empty}`) + 3;
  yield text.slice(0, at);
  yield '"results": [';
  let count = 0;
  for (const some of pieces(rows)) {
    const texts = some.map((row) =>
      JSON.stringify(resultOf(row, ncclKind(run)), null, 2).replaceAll('\n', '\n    '),
    );
    yield texts.map((one) => `${count++ === 0 ? '' : ','}\n    ${one}`).join('');
  }
  yield `${count === 0 ? '' : '\n  '}]${text.slice(at + empty.length)}\n`;
}

export const formatNcclJson = (run: Run, options?: NcclJsonOptions): string =>
  [...ncclJsonPieces(run, options)].join('');

/** `2026-11-15 04:54:26`, in UTC. */
const clock = (time: string): string => new Date(time).toISOString().slice(0, 19).replace('T', ' ');

function configOf(run: Run, rows: readonly NcclRow[]) {
  const [least, most] = extentOf(rows.map(({ sizeBytes }) => sizeBytes));
  return {
    nthreads: 1,
    ngpus: 0,
    minimum_bytes: rows.length === 0 ? 0 : least,
    maximum_bytes: rows.length === 0 ? 0 : most,
    validation: rows.some(({ wrong }) => wrong !== undefined) ? 1 : 0,
    devices: run.world.hosts.map((hostname) => ({ hostname })),
    ...(run.fabric.emulated && { fabric: fabricName(run.fabric) }),
  };
}

function resultOf(
  { row, sizeBytes, count, timeUs, algbw, busbw, wrong }: NcclRow,
  { type, redop, root }: ReturnType<typeof ncclKind>,
) {
  return {
    size: sizeBytes,
    count,
    type,
    redop,
    root: String(root).padStart(6),
    out_of_place: { time: timeUs, alg_bw: algbw, bus_bw: busbw, nwrong: wrong ?? null },
    out_of_place_per_iter: perIterationOf(row),
    actual_iterations: row.iterations,
    experiment_name: row.column,
  };
}

/** `times_us` are per iteration; where samples are batches, each is the mean of its batch. */
function perIterationOf({ nanoseconds, samples, batch }: Row) {
  if (nanoseconds === null) return undefined;
  const variation = coefficientOfVariation(nanoseconds);
  return {
    min_us: microseconds(nanoseconds.min),
    max_us: microseconds(nanoseconds.max),
    avg_us: microseconds(nanoseconds.mean),
    p50_us: microseconds(nanoseconds.p50),
    p95_us: microseconds(nanoseconds.p95),
    p99_us: microseconds(nanoseconds.p99),
    stdev_us: nanoseconds.stddev === null ? null : microseconds(nanoseconds.stddev),
    cv_pct: variation === undefined ? null : variation * 100,
    times_us: samples.map((sample) => microseconds(sample / batch)),
  };
}
