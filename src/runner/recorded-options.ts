import type { Run } from '../results/schema.js';
import { type Benchmark, optionsOf } from './benchmark.js';
import type { Given } from './job.js';

/** The options of a benchmark as a run file recorded them. */
export function recordedOptions({ settings }: Run, benchmark: Benchmark): Given {
  const recorded: Given = { ...settings, ...(settings.own as Given | undefined) };
  const kept = Object.keys(optionsOf(benchmark)).filter((key) => recorded[key] != null);
  return Object.fromEntries(kept.map((key) => [key, recorded[key]]));
}
