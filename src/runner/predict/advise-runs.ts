import {
  byValue,
  type Found,
  type OpenQuestion,
  type RunAdvice,
  steadyRows,
} from '../../analysis/advice/change.js';
import { conditionsOf } from '../../analysis/advice/conditions.js';
import {
  incomparable,
  measuredSettings,
  measuredStrategies,
} from '../../analysis/advice/measured.js';
import { groupBy } from '../../measure/group.js';
import { formatBytes } from '../../measure/units.js';
import type { Run } from '../../results/schema.js';
import type { FabricModel } from '../../simulate/fabric-model.js';
import { type Benchmark, isPlanned } from '../benchmark.js';
import { fabricKey, modelOfRuns } from './run-model.js';
import { whatIf } from './what-if.js';

export interface AdviceQuestion {
  readonly runs: readonly Run[];
  /** Default: fitted to the runs. */
  readonly fabric?: FabricModel | undefined;
  /** The column in use; default: the simplest of those measured. */
  readonly column?: string | undefined;
}

export function adviseRuns(
  { runs, fabric, column }: AdviceQuestion,
  benchmarks: readonly Benchmark[],
): RunAdvice {
  const groups = [...groupBy(runs, fabricKey).values()].map((own) => {
    const model = fabric ?? modelOfRuns(own, benchmarks);
    return { model, found: own.map((run) => adviseRun(run, model, column, benchmarks)) };
  });
  const found = groups.flatMap((group) => group.found);
  const models = groups.flatMap(({ model }) => model ?? []);
  return {
    runs,
    changes: byValue([...found.flatMap(({ changes }) => changes), ...measuredSettings(runs)]),
    open: distinct(found.flatMap(({ open }) => open)),
    models: [...new Set(models)],
    state: runs.flatMap(stateOf),
  };
}

function adviseRun(
  run: Run,
  model: FabricModel | undefined,
  column: string | undefined,
  benchmarks: readonly Benchmark[],
): Found {
  const conditions = conditionsOf(run);
  // That of somebody's own file is not among them.
  const benchmark = benchmarks.find(({ id }) => id === run.benchmark);
  if (!benchmark || !isPlanned(benchmark) || steadyRows(run).length === 0) return conditions;
  const predicted = model
    ? whatIf({ run, benchmark, model }, column)
    : { changes: [], open: noModel(run) };
  return {
    changes: [...conditions.changes, ...measuredStrategies(run, column), ...predicted.changes],
    open: [...conditions.open, ...incomparable(run, column), ...predicted.open],
  };
}

/** The sizes of a single-channel write that would do: those of the run, several of them. */
function noModel(run: Run): OpenQuestion[] {
  const most = Math.max(2 ** 20, ...steadyRows(run).map(({ bytes }) => bytes));
  const memory = run.rows.some(({ column, gbps }) => gbps !== null && column.endsWith('DMA'))
    ? 'SingleDMA'
    : 'SinglePin';
  const options = { columns: [memory], minBytes: most / 16, maxBytes: most, stepFactor: 2 };
  const reason =
    'Settings that were not measured cannot be predicted: a model needs single-channel write rows of at least three sizes on this fabric, or --fabric.';
  return [{ what: 'model', reason, run, measure: { benchmark: 'write', options } }];
}

function distinct(open: readonly OpenQuestion[]): OpenQuestion[] {
  return [...new Map(open.map((one) => [`${one.what} ${one.reason}`, one])).values()];
}

function stateOf(run: Run): string[] {
  const rows = steadyRows(run).filter(({ ofBoundPercent }) => ofBoundPercent !== null);
  const largest = Math.max(...rows.map(({ bytes }) => bytes));
  const [best] = rows.filter(({ bytes }) => bytes === largest).sort((a, b) => b.gbps - a.gbps);
  if (best === undefined) return [];
  const share = best.ofBoundPercent!;
  const most = Math.max(0, 100 * (100 / share - 1));
  return [
    `${run.benchmark}: ${best.column} at ${formatBytes(largest)} reaches ${share.toFixed(1)} % of its bound; settings can gain at most ${most.toFixed(1)} %.`,
  ];
}
