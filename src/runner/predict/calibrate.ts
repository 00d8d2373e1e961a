import { WeftError } from '../../errors.js';
import { formatBytes, parseBytes } from '../../measure/units.js';
import type { Figure } from '../../reference/csv.js';
import type { Row, Run } from '../../results/schema.js';
import type { ParameterName } from '../../simulate/fabric-model.js';
import type { FitRow } from '../../simulate/fit.js';
import { type Benchmark, isPlanned, type PlanBenchmark } from '../benchmark.js';
import { type Column, columnsOf } from '../columns.js';
import { hostsOf, predictor } from './predict-row.js';

/** A measured row of a benchmark made of plans, wherever it was published. */
export interface MeasuredFigure extends Figure {
  readonly buffers?: number | undefined;
}

/** A row that a fit uses although it is not of one channel: `all2all:SingleDMA:32M`. */
export interface RowChoice {
  readonly benchmark: string;
  readonly column: string;
  readonly bytes: number;
}

export function parseRowChoice(text: string): RowChoice {
  const [benchmark = '', column = '', size = '', ...rest] = text.split(':');
  if (benchmark === '' || column === '' || size === '' || rest.length > 0) {
    throw new Error('It must be a row such as all2all:SingleDMA:32M.');
  }
  return { benchmark, column, bytes: parseBytes(size) };
}

/** What a fit reads of figures: those of one channel are used, the others are for comparison unless chosen. */
export function fitRows(
  figures: readonly MeasuredFigure[],
  chosen: readonly RowChoice[],
  benchmarkById: (id: string) => Benchmark,
): FitRow[] {
  const rows = figures.map((figure): PlannedFigure => {
    const benchmark = benchmarkById(figure.benchmark);
    if (!isPlanned(benchmark) || !benchmark.fitsModels) throw notFitted(figure.benchmark);
    const [column] = columnsOf(benchmark, [figure.column]);
    return { figure, benchmark, column: column! };
  });
  const isChosen = ({ figure, column }: PlannedFigure, choice: RowChoice) =>
    choice.benchmark === figure.benchmark &&
    choice.bytes === figure.bytes &&
    choice.column === column.name;
  for (const choice of chosen) {
    if (!rows.some((row) => isChosen(row, choice))) throw notThere(choice);
  }
  return rows.map((row) =>
    fitRow(
      row,
      chosen.some((choice) => isChosen(row, choice)),
    ),
  );
}

interface PlannedFigure {
  readonly figure: MeasuredFigure;
  readonly benchmark: PlanBenchmark;
  readonly column: Column;
}

function fitRow({ figure, benchmark, column }: PlannedFigure, isAdded: boolean): FitRow {
  const { nodes, ranksPerNode, bytes, buffers, nanoseconds } = figure;
  const { strategy } = column;
  const hosts = hostsOf(nodes, ranksPerNode);
  const situation = { world: hosts.length, hosts, bytes, strategy, buffers, options: {} };
  const turns = benchmark.turns(situation);
  const ofOneChannel = benchmark.clock === 'initiator' && strategy.allowedChannels(2) === 1;
  let predict: ReturnType<typeof predictor> | undefined;
  return {
    benchmark: benchmark.id,
    name: `${benchmark.id} ${column.name} ${formatBytes(bytes)}`,
    nanoseconds,
    used: ofOneChannel ? 'first' : isAdded ? 'added' : undefined,
    tells: toldBy(benchmark, column),
    // Plans are made once, for the first of many models.
    predict: (fabric) => {
      predict ??= predictor({
        clock: benchmark.clock,
        column,
        turns,
        world: { fabric, nodes, ranksPerNode },
      });
      return predict(fabric);
    },
  };
}

/** The parameters that have an effect on a row. */
function toldBy(benchmark: PlanBenchmark, { strategy, memory }: Column): ParameterName[] {
  const several = strategy.allowedChannels(2) > 1;
  if (benchmark.roundTrip) return ['nicGbps', 'sendMicroseconds', 'chunkMicroseconds'];
  if (benchmark.clock === 'initiator') {
    const split = strategy.maxPieces(2) > 1;
    return ['nicGbps', 'writeMicroseconds', ...(split ? (['splitMicroseconds'] as const) : [])];
  }
  if (memory.id === 'pinned' && several) return ['hostGbps', 'hostMicroseconds'];
  return ['duplexEfficiency'];
}

/** Whether GPU memory was copied through host memory, which takes time that no parameter stands for. */
export const isStaged = ({ labels }: Row): boolean => labels.memory === 'staged';

/** The figures of runs. Rows that did not pass, are staged, noisy or a burst say nothing about the fabric. */
export function figuresOfRuns(runs: readonly Run[]): MeasuredFigure[] {
  return runs.flatMap(({ benchmark, world, rows, settings }) =>
    rows.flatMap((row): MeasuredFigure[] => {
      const { outcome, noisy, labels, bytes, nanoseconds, column } = row;
      if (outcome !== 'passed' || noisy || labels.burst || !bytes || !nanoseconds) return [];
      if (isStaged(row)) return [];
      const nodes = world.hosts.length;
      return [
        {
          benchmark,
          nodes,
          ranksPerNode: world.ranks / nodes,
          column,
          bytes,
          nanoseconds: nanoseconds.mean,
          ...(typeof settings.buffers === 'number' && { buffers: settings.buffers }),
        },
      ];
    }),
  );
}

const notFitted = (id: string): WeftError =>
  new WeftError('BAD_USAGE', `a model cannot be fitted to rows of ${id}`, {
    hint: 'Use only runs of sendrecv, write and all2all.',
  });

const notThere = ({ benchmark, column, bytes }: RowChoice): WeftError =>
  new WeftError('BAD_USAGE', `no row ${benchmark}:${column}:${formatBytes(bytes)} in the input`, {
    hint: 'Name a row of the input as benchmark:column:size.',
  });
