import type { Expectation } from '../analysis/verdict/expectations.js';
import { WeftError } from '../errors.js';
import { groupBy } from '../measure/group.js';
import { pairMetricOf } from '../results/column-name.js';
import type { Run } from '../results/schema.js';
import type { Benchmark } from './benchmark.js';
import { columnsOf } from './columns.js';
import { type Given, type Job, jobOf } from './job.js';
import { recordedOptions } from './recorded-options.js';

export interface CheckScope {
  /** Ends within seconds on a few hosts. */
  readonly quick: boolean;
  benchmarkById(id: string): Benchmark;
  /** What the user said of the fabric. */
  readonly fabric: Given;
}

const [K, M] = [2 ** 10, 2 ** 20];
const budgetMs = { quick: 150, full: 500 };

const jobFor = (id: string, { quick, fabric, benchmarkById }: CheckScope, own: Given): Job =>
  jobOf(benchmarkById(id), {
    budgetMs: quick ? budgetMs.quick : budgetMs.full,
    ...own,
    ...fabric,
  });

/** Where nobody says what to expect: every pair, then what each strategy reaches. */
export function runsForAnyMachine(scope: CheckScope): Job[] {
  const write = scope.quick
    ? { minBytes: M, maxBytes: M }
    : { minBytes: 256 * K, maxBytes: 64 * M, stepFactor: 4 };
  const all2all = scope.quick
    ? []
    : [jobFor('all2all', scope, { minBytes: 4 * M, maxBytes: 4 * M })];
  return [pairsJob(scope), jobFor('write', scope, write), ...all2all];
}

const pairsJob = (scope: CheckScope): Job => jobFor('pairs', scope, { perRail: true });

/** What the expectations speak of, a run for each benchmark and size; and every pair. */
export function runsForExpectations(
  expectations: readonly Expectation[],
  scope: CheckScope,
): Job[] {
  const groups = groupBy(expectations, (one) => `${one.benchmark} ${one.bytes ?? ''}`);
  const runs = [...groups.values()].map((group) => {
    const { benchmark: id, bytes } = group[0]!;
    const columns = [...new Set(group.map((one) => one.column))];
    columnsOf(scope.benchmarkById(id), columns);
    const sizes = bytes === undefined ? {} : { minBytes: bytes, maxBytes: bytes };
    return jobFor(id, scope, { columns, ...sizes });
  });
  return runs.some((run) => run.benchmark.id === 'pairs') ? runs : [pairsJob(scope), ...runs];
}

/** Of no use to a second measurement: how long to wait and where to run is today's affair. */
const notFromBaseline = new Set(['timeoutMs', 'pin', 'check']);

/** What a baseline measured, in the same way; what the command line says of the fabric comes first. */
export function runsForBaseline(baseline: Run, scope: CheckScope): Job[] {
  const { benchmark: id } = baseline;
  // Pairs choose their size by the time it takes: the same size again is comparable.
  const bytes = baseline.rows.find(
    (row) => row.kind === 'pair' && pairMetricOf(row) === 'bandwidth',
  )?.bytes;
  const size = bytes == null ? {} : { minBytes: bytes, maxBytes: bytes };
  try {
    const recorded = recordedOptions(baseline, scope.benchmarkById(id));
    const kept = Object.entries(recorded).filter(([key]) => !notFromBaseline.has(key));
    return [jobFor(id, scope, { ...Object.fromEntries(kept), ...size })];
  } catch (cause) {
    throw new WeftError(
      'BAD_FILE',
      `${baseline.id} is a run of ${id}, which Weft cannot run here`,
      { hint: 'Use a baseline of a benchmark that `weft list` names.', cause },
    );
  }
}
