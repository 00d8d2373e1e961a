import { WeftError } from '../../errors.js';
import {
  figuresOf,
  type NcclFigures,
  ncclAllToAll,
  ncclCollective,
} from '../../measure/figures.js';
import { allowedLineRateGbps } from '../../plan/bound.js';
import { countOf } from '../../results/rows.js';
import { type Row, type Run, runSchemaName } from '../../results/schema.js';
import type { FabricModel, FabricParameters } from '../../simulate/fabric-model.js';
import type { SimulatedWorld } from '../../simulate/wiring.js';
import type { PlanBenchmark } from '../benchmark.js';
import { type Column, columnsOf, pinned } from '../columns.js';
import { type PlanJob, rowSizes, turnsOf } from '../job.js';
import { hostsOf, predictor, treatsHostsAlike } from './predict-row.js';

export interface PredictedJob {
  readonly job: PlanJob;
  readonly world: Omit<SimulatedWorld, 'memory'>;
}

/** A run that nobody measured: every row of a job, in a model of a fabric. `startedAt` is the time of the prediction. */
export function predictRun({ job, world }: PredictedJob, now = new Date()): Run {
  const { fabric, nodes, ranksPerNode, switches, faults = [] } = world;
  const { benchmark, settings } = job;
  const at = now.toISOString();
  const rows = columnsIn(fabric, job).flatMap((column) =>
    rowSizes(job).map((bytes) => predictRow(job, world, column, bytes)),
  );
  const channel = { nic: null, lineRateGbps: fabric.lineRateGbps };
  const hosts = hostsOf(nodes, 1);
  return {
    schema: runSchemaName,
    id: `${benchmark.id}-${fabric.name}-${nodes}x${ranksPerNode}`,
    benchmark: benchmark.id,
    startedAt: at,
    endedAt: at,
    outcome: 'passed',
    world: { ranks: nodes * ranksPerNode, hosts, launcher: 'model' },
    fabric: {
      library: null,
      version: null,
      provider: `model ${fabric.name}`,
      channels: Array.from({ length: fabric.nicsPerRank }, () => channel),
    },
    settings: {
      nodes,
      ranksPerNode,
      chunkBytes: settings.chunkBytes ?? fabric.chunkBytes,
      ...job.options,
      ...(settings.buffers !== undefined && { buffers: settings.buffers }),
      ...(switches && { switches: { ...switches } }),
      ...(faults.length > 0 && { faults: faults.map((fault) => ({ ...fault })) }),
    },
    rows,
    errors: [],
    model: {
      name: fabric.name,
      source: fabric.source,
      parameters: { ...fabric.parameters } as Record<string, number>,
    },
  };
}

/** The columns of a job, without those in GPU memory where the model has no GPUs. */
function columnsIn({ name, gpus }: FabricModel, { benchmark, settings }: PlanJob): Column[] {
  const asked = columnsOf(benchmark, settings.columns);
  const found = gpus === false ? asked.filter(({ memory }) => memory === pinned) : asked;
  if (found.length > 0) return found;
  throw new WeftError('BAD_USAGE', `the model ${name} has no GPUs, so it has no DMA columns`, {
    hint: 'Choose columns in host memory, whose names end with Pin.',
  });
}

function predictRow(
  job: PlanJob,
  world: PredictedJob['world'],
  column: Column,
  bytes: number,
): Row {
  const { benchmark, settings } = job;
  const { fabric, nodes, ranksPerNode } = world;
  const turns = turnsOf(job, hostsOf(nodes, ranksPerNode), bytes, column);
  const { algorithm, figureBytes } = turns[0]!;
  const { chunkBytes } = settings;
  const subject = { clock: benchmark.clock, column, turns, chunkBytes, world };
  const time = predictor(subject);
  const mean = time(fabric);
  const links = Array.from({ length: fabric.nicsPerRank }, () => fabric);
  const allowedGbps = allowedLineRateGbps(column.strategy, links);
  const nccl = ncclFiguresOf(benchmark, bytes, nodes * ranksPerNode, mean);
  return {
    kind: 'transfer',
    column: column.name,
    bytes,
    count: countOf(bytes),
    outcome: 'passed',
    noisy: false,
    labels: {},
    iterations: 0,
    batch: 1,
    nanoseconds: flat(mean),
    samples: [],
    ...figuresOf({ bytes: figureBytes, meanNanoseconds: mean, allowedGbps }),
    ...(algorithm !== undefined && { algorithm }),
    ...(benchmark.roundTrip && { halfRoundTripNanoseconds: mean / 2 }),
    ...(nccl && { algbwGBps: nccl.algbw, busbwGBps: nccl.busbw }),
    checked: { bytes: 0, wrong: 0 },
    interval: intervalOf(benchmark.id, fabric, mean, time),
    ...(treatsHostsAlike(subject) && { hostsAlike: true }),
  };
}

/** Undefined for a benchmark that nccl-tests has no figures for. */
function ncclFiguresOf(
  benchmark: PlanBenchmark,
  bytes: number,
  ranks: number,
  nanoseconds: number,
): NcclFigures | undefined {
  const factor = benchmark.busFactor?.(ranks);
  if (factor !== undefined) return ncclCollective(bytes, factor, nanoseconds);
  return benchmark.pattern === 'allToAll' ? ncclAllToAll(bytes, ranks, nanoseconds) : undefined;
}

/** A model has no spread of iterations. */
const flat = (mean: number): NonNullable<Row['nanoseconds']> => ({
  min: mean,
  mean,
  p50: mean,
  p95: mean,
  p99: mean,
  max: mean,
  stddev: null,
  ci95: null,
});

/** Of a benchmark that nothing was fitted to: as far off as the worst of the others. */
const spreadFor = ({ fit }: FabricModel, benchmark: string): number =>
  fit === undefined ? 0 : (fit.spread[benchmark] ?? Math.max(0, ...Object.values(fit.spread)));

/**
 * Half the width, on a scale of factors: how far the slow ends of all parameters' intervals move the time, and twice the
 * spread of the benchmark's measured rows around the model, as independent errors.
 */
export function intervalOf(
  benchmark: string,
  fabric: FabricModel,
  mean: number,
  time: (fabric: FabricModel) => number,
): readonly [number, number] {
  const moved = Math.log(time({ ...fabric, parameters: slowest(fabric) }) / mean);
  const width = Math.exp(Math.hypot(moved, 2 * spreadFor(fabric, benchmark)));
  return [mean / width, mean * width];
}

/** Rates and shares at the low end of their intervals, costs at the high end. */
function slowest({ parameters, fit }: FabricModel): FabricParameters {
  const ends = Object.entries(fit?.intervals ?? {}).map(([name, [low, high]]) => [
    name,
    name.endsWith('Microseconds') ? high : low,
  ]);
  return { ...parameters, ...Object.fromEntries(ends) };
}
