import {
  type Gain,
  gainOver,
  type OptionValues,
  type SteadyRow,
  worthwhile,
} from '../../analysis/advice/change.js';
import type { Run } from '../../results/schema.js';
import type { FabricModel } from '../../simulate/fabric-model.js';
import type { PlanBenchmark } from '../benchmark.js';
import { jobOf } from '../job.js';
import { predictRun } from './predict-run.js';
import { modelledWorld, nicsOf } from './run-model.js';

/** A run, and what predicts its rows with other settings. */
export interface Subject {
  readonly run: Run;
  readonly benchmark: PlanBenchmark;
  readonly model: FabricModel;
}

/** Rows of the fastest measured column, each with what the model predicts for it. */
export interface Base {
  readonly column: string;
  readonly rows: readonly { readonly row: SteadyRow; readonly predicted: Predicted }[];
}

interface Predicted {
  readonly gbps: number;
  /** What an iteration moves. */
  readonly bits: number;
  /** Of the time, on a scale of factors. */
  readonly uncertainty: number;
}

/** The rate of one row in the model, with changed options; undefined where the plan has no such row. */
export function predict(
  { run, benchmark, model }: Subject,
  column: string,
  bytes: number,
  changed: OptionValues & { readonly channels?: number } = {},
): Predicted | undefined {
  const { settings } = run;
  const own = { ...(settings.own as object | undefined) };
  const given = { ...settings, ...own, against: undefined, ...changed, columns: [column] };
  const sized = benchmark.sizesOf ? given : { ...given, minBytes: bytes, maxBytes: bytes };
  const fabric = { ...model, nicsPerRank: changed.channels ?? nicsOf(run) };
  const job = { ...jobOf(benchmark, sized), benchmark };
  const { rows } = predictRun({ job, world: { fabric, ...modelledWorld(run)! } });
  const row = rows.find((one) => one.bytes === bytes);
  if (row?.gbps == null) return undefined;
  const mean = row.nanoseconds!.mean;
  const bits = row.gbps * mean;
  return { gbps: row.gbps, bits, uncertainty: row.interval ? Math.log(row.interval[1] / mean) : 0 };
}

/** Both predictions share the model, so the gain is no less certain than the less certain of them. */
function gainOf(from: Predicted, to: Predicted, most = Number.POSITIVE_INFINITY): Gain {
  const factor = Math.min(most, to.gbps / from.gbps);
  const width = Math.exp(Math.max(from.uncertainty, to.uncertainty));
  return { factor, interval: [factor / width, Math.min(most, factor * width)] };
}

/** What changes from the base by these options, over the sizes where it is worthwhile. */
export function changeTo(
  subject: Subject,
  { column, rows }: Base,
  to: OptionValues & { readonly columns?: readonly [string]; readonly channels?: number },
  most?: (row: SteadyRow) => number,
): { readonly bytes: number[]; readonly gain: Gain } | undefined {
  const { columns, ...options } = to;
  const gains = rows.flatMap(({ row, predicted }) => {
    const other = predict(subject, columns?.[0] ?? column, row.bytes, options);
    // Columns that move more or less in an iteration are other questions.
    const isAlike = other && Math.abs(other.bits / predicted.bits - 1) < 0.01;
    const gain = isAlike ? gainOf(predicted, other, most?.(row)) : undefined;
    return gain && gain.factor >= worthwhile ? [{ bytes: row.bytes, gain }] : [];
  });
  if (gains.length === 0) return undefined;
  return { bytes: gains.map(({ bytes }) => bytes), gain: gainOver(gains.map(({ gain }) => gain)) };
}
