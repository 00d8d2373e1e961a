import { WeftError } from '../errors.js';
import type { OptionTable } from '../settings/option.js';
import { type CommonKey, commonOptions, type Settings } from '../settings/table.js';
import {
  type Asked,
  type Benchmark,
  commonKeysOf,
  type PlanBenchmark,
  type Situation,
  type Turn,
} from './benchmark.js';
import { type Column, columnsOf } from './columns.js';
import { sizesOf } from './sizes.js';

/** A benchmark with everything decided. */
export interface Job extends Asked {
  readonly benchmark: Benchmark;
}

/** A job whose benchmark is made of plans. */
export interface PlanJob extends Job {
  readonly benchmark: PlanBenchmark;
}

/** What a row of this size and strategy times. */
export const turnsOf = (
  job: PlanJob,
  hosts: readonly string[],
  bytes: number,
  column: Column,
): readonly Turn[] => job.benchmark.turns(situationOf(job, hosts, bytes, column));

/** What a benchmark is told of a row. `hosts`: that of each rank. */
export const situationOf = (
  { settings: { buffers }, options }: PlanJob,
  hosts: readonly string[],
  bytes: number,
  { strategy, variant }: Column,
): Situation => ({ world: hosts.length, hosts, bytes, strategy, variant, buffers, options });

/** The sizes of a job's rows, smallest first. */
export const rowSizes = (job: PlanJob): readonly number[] =>
  job.benchmark.sizesOf?.(job) ?? sizesOf(job.settings);

/** Values by key, as somebody gave them: common ones and a benchmark's own. */
export type Given = Readonly<Record<string, unknown>>;

/**
 * Fills in what was not given, and refuses values that make no sense. A common option without effect here is dropped:
 * it may stand among the defaults of a suite. Whoever reads options that a user gave for this benchmark refuses those.
 */
export function jobOf(benchmark: Benchmark, given: Given): Job {
  const settings = settingsOf(benchmark, given);
  const options = valuesOf(benchmark.options ?? {}, given);
  sizesOf(settings);
  columnsOf(benchmark, settings.columns);
  if (settings.against && settings.repeats > 1) {
    throw new WeftError('BAD_USAGE', '`repeats` and `against` cannot be used together', {
      hint: 'Some libraries can be opened only once in a process. Run the command several times.',
    });
  }
  benchmark.check?.({ settings, options });
  return { benchmark, settings, options };
}

function settingsOf(benchmark: Benchmark, given: Given): Settings {
  const { sizes, defaults } = benchmark;
  const taken = commonKeysOf(benchmark).filter((key) => given[key] !== undefined);
  const said = Object.fromEntries(taken.map((key) => [key, given[key]]));
  const values = valuesOf(commonOptions, { ...defaults, ...said });
  const { minBytes, maxBytes, stepFactor, ...rest } = values as Settings;
  return {
    ...rest,
    // One bound alone moves the other out of its way.
    minBytes: minBytes ?? Math.min(sizes.minBytes, maxBytes ?? sizes.minBytes),
    maxBytes: maxBytes ?? Math.max(sizes.maxBytes, minBytes ?? sizes.maxBytes),
    stepFactor: stepFactor ?? sizes.factor,
  };
}

const valuesOf = (table: OptionTable, given: Given): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(table)
      .map(([key, option]) => [key, given[key] ?? option.default] as const)
      .filter(([, value]) => value !== undefined),
  );

/** Why a common option has no effect on a benchmark; undefined where it has one. */
export function refusalOf(
  benchmark: Benchmark,
  key: CommonKey,
  all: readonly Benchmark[],
): WeftError | undefined {
  if (commonKeysOf(benchmark).includes(key)) return undefined;
  const takers = all.filter((one) => commonKeysOf(one).includes(key)).map(({ id }) => id);
  const only = takers.length === 1 ? `; only ${takers[0]} supports it` : '';
  return new WeftError('BAD_USAGE', `\`${key}\` has no effect on ${benchmark.id}${only}`, {
    hint: 'Leave it out.',
  });
}
