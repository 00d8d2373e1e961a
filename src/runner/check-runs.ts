import type { Expectation } from '../analysis/verdict/expectations.js';
import { WeftError } from '../errors.js';
import type { Run } from '../results/schema.js';
import type { FabricSettings } from '../session/fabric-settings.js';
import type { Benchmark } from './benchmark.js';
import { columnsOf, defaultSettings, type Settings } from './settings.js';
import type { SuiteEntry } from './suite.js';

export interface CheckScope {
  /** Ends within seconds on a few hosts. */
  readonly quick: boolean;
  benchmarkById(id: string): Benchmark;
  readonly fabric: FabricSettings;
}

const [K, M] = [2 ** 10, 2 ** 20];
const budgetMs = { quick: 150, full: 500 };

const entryOf = (id: string, scope: CheckScope, own: Partial<Settings>): SuiteEntry => {
  const { quick, fabric } = scope;
  const benchmark = scope.benchmarkById(id);
  const { minBytes, maxBytes, factor: stepFactor } = benchmark.sizes;
  const budget = { budgetMs: quick ? budgetMs.quick : budgetMs.full };
  const sizes = { minBytes, maxBytes, stepFactor };
  return { benchmark, settings: { ...defaultSettings, ...sizes, ...budget, ...own, ...fabric } };
};

/** Where nobody says what to expect: every pair, then what each strategy reaches. */
export function runsForAnyMachine(scope: CheckScope): SuiteEntry[] {
  const write = scope.quick
    ? { minBytes: M, maxBytes: M }
    : { minBytes: 256 * K, maxBytes: 64 * M, stepFactor: 4 };
  const all2all = scope.quick
    ? []
    : [entryOf('all2all', scope, { minBytes: 4 * M, maxBytes: 4 * M })];
  return [pairsEntry(scope), entryOf('write', scope, write), ...all2all];
}

export const pairsEntry = (scope: CheckScope): SuiteEntry =>
  entryOf('pairs', scope, { own: { perRail: true } });

/** What the expectations speak of, a run for each benchmark and size; and every pair. */
export function runsForExpectations(
  expectations: readonly Expectation[],
  scope: CheckScope,
): SuiteEntry[] {
  const groups = new Map<string, Expectation[]>();
  for (const expectation of expectations) {
    const key = `${expectation.benchmark} ${expectation.bytes ?? ''}`;
    groups.set(key, [...(groups.get(key) ?? []), expectation]);
  }
  const runs = [...groups.values()].map((group) => {
    const { benchmark: id, bytes } = group[0]!;
    const columns = [...new Set(group.map((one) => one.column))];
    columnsOf(scope.benchmarkById(id), columns);
    const sizes = bytes === undefined ? {} : { minBytes: bytes, maxBytes: bytes };
    return entryOf(id, scope, { columns, ...sizes });
  });
  return runs.some((run) => run.benchmark.id === 'pairs') ? runs : [pairsEntry(scope), ...runs];
}

const keptFromBaseline = [
  ...['provider', 'nics', 'channels', 'lineRateGbps', 'gpus', 'chunkBytes', 'window'],
  ...['minBytes', 'maxBytes', 'stepFactor', 'stepBytes', 'iterations', 'warmup', 'budgetMs'],
  ...['columns', 'buffers', 'repeats', 'own'],
];

/** What a baseline measured, in the same way; what the command line says of the fabric comes first. */
export function runsForBaseline(baseline: Run, scope: CheckScope): SuiteEntry[] {
  const { settings, benchmark } = baseline;
  const kept = Object.fromEntries(
    keptFromBaseline.flatMap((key) => (settings[key] == null ? [] : [[key, settings[key]]])),
  ) as Partial<Settings>;
  // Pairs choose their size by the time it takes: the same size again is comparable.
  const bytes = baseline.rows.find((row) => row.kind === 'pair' && row.column !== 'Latency')?.bytes;
  const size = bytes == null ? {} : { minBytes: bytes, maxBytes: bytes };
  try {
    return [entryOf(benchmark, scope, { ...kept, ...size })];
  } catch (cause) {
    throw new WeftError(
      'BAD_FILE',
      `${baseline.id} is a run of ${benchmark}, which is no benchmark here`,
      { hint: 'Use a baseline that this Weft can measure again.', cause },
    );
  }
}
