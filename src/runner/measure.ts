import type { Row, Run } from '../results/schema.js';
import type { OptionTable, ValuesOf } from '../settings/option.js';
import type { Settings } from '../settings/table.js';
import type { World } from '../world/world.js';
import { type Benchmark, optionsOf } from './benchmark.js';
import { jobOf } from './job.js';
import { recordRun } from './record-run.js';

/** Where the rows of a measurement go. */
export interface MeasureOptions {
  /** The run file; default: a new one in weft-results/. Rows are on disk as soon as they are measured. */
  readonly out?: string;
  /** Hears of every row on rank 0, as it is measured. */
  onRow?(row: Row): void;
}

/**
 * Runs a benchmark on every rank of a world, with the settings of the command line by their keys; every rank calls it.
 * Resolves with the run on rank 0, else with undefined. Rejects with a WeftError where it could not finish; a row with
 * wrong bytes does not reject, but makes the outcome `failed`.
 */
export async function measure<O extends OptionTable>(
  benchmark: Benchmark<O>,
  world: World,
  given: Partial<Settings & ValuesOf<O>> = {},
  { out, onRow = () => {} }: MeasureOptions = {},
): Promise<Run | undefined> {
  const known = optionsOf(benchmark as Benchmark);
  const unknown = Object.keys(given).find((key) => !(key in known));
  if (unknown !== undefined) throw new TypeError(`${benchmark.id} has no setting ${unknown}`);
  const job = jobOf(benchmark as Benchmark, given);
  const recorded = await recordRun({
    job,
    world,
    out,
    listener: { starting: () => {}, row: onRow },
  });
  if (recorded?.error !== undefined) throw recorded.error;
  return recorded?.run;
}
