import { isWeftError } from '../../errors.js';
import { traitsOf } from '../../results/column-name.js';
import type { Run } from '../../results/schema.js';
import { type FabricModel, fabricSchemaName } from '../../simulate/fabric-model.js';
import { fitModel } from '../../simulate/fit.js';
import { type Benchmark, isPlanned } from '../benchmark.js';
import { figuresOfRuns, fitRows, type MeasuredFigure, type RowChoice } from './calibrate.js';

/** A world in which every rank has NICs to itself, as in the model. */
export interface ModelledWorld {
  readonly nodes: number;
  readonly ranksPerNode: number;
}

/** The world of a run as the model has it; undefined where ranks of a host share NICs, or where that is not known. */
export function modelledWorld({ world, rows }: Run): ModelledWorld | undefined {
  const { ranks, hosts } = world;
  // What stays inside a host counts as if every rank had NICs of its own; so does its bound.
  if (hosts.length <= 1 || ranks === hosts.length) return { nodes: ranks, ranksPerNode: 1 };
  const nics = rows.flatMap(({ path }) => path?.nics ?? []);
  const isShared = nics.length === 0 || nics.some((nic) => nic.ranks.length > 1);
  if (isShared || ranks % hosts.length !== 0) return undefined;
  return { nodes: hosts.length, ranksPerNode: ranks / hosts.length };
}

/** NICs of a rank. More channels than NICs share their rate, which the model does not know. */
export const nicsOf = ({ fabric }: Run): number =>
  new Set(fabric.channels.map(({ nic }, channel) => nic ?? channel)).size;

/** Why the ranks and NICs of a run are not those of a model's world; undefined where they are. */
export function whyNotModelled(run: Run): string | undefined {
  const { model, world, fabric, rows } = run;
  const { ranks, hosts, hostOfRank } = world;
  if (model) return 'these rows are predicted themselves';
  if (!rows.some((row) => row.outcome === 'passed')) return 'no row passed';
  if (hosts.length < 2) return 'all ranks were on one host, where no NIC is needed';
  if (nicsOf(run) < Math.max(1, fabric.channels.length)) {
    return 'the channels of a rank do not have a NIC each';
  }
  if (rows.some(({ path }) => path?.nics.some((nic) => nic.ranks.length > 1))) {
    return 'ranks of one host share NICs';
  }
  const perNode = ranks / hosts.length;
  const spread =
    Number.isInteger(perNode) &&
    (hostOfRank ?? []).every((host, rank) => hosts.indexOf(host) === Math.floor(rank / perNode));
  return spread ? undefined : 'the ranks are not spread evenly over the hosts';
}

/** The same kind of NIC between the same hosts, opened in the same way. Runs may use fewer of them. */
export const fabricKey = ({ world, fabric }: Run): string =>
  JSON.stringify([
    world.hosts,
    fabric.provider,
    [...new Set(fabric.channels.map(({ lineRateGbps }) => lineRateGbps))],
  ]);

/** Whether a fit reads its rows. */
const isFitted = (benchmark: Benchmark | undefined): boolean =>
  benchmark !== undefined && isPlanned(benchmark) && benchmark.fitsModels === true;

/** A model fitted to runs on one fabric; undefined where they have too few single-channel rows. */
export function modelOfRuns(
  runs: readonly Run[],
  benchmarks: readonly Benchmark[],
): FabricModel | undefined {
  const byId = (id: string) => benchmarks.find((one) => one.id === id);
  const chunk = runs.map(({ settings }) => settings.chunkBytes).find((one) => one != null);
  const used = runs.filter(
    (run) =>
      isFitted(byId(run.benchmark)) &&
      modelledWorld(run) !== undefined &&
      nicsOf(run) === run.fabric.channels.length &&
      (run.settings.chunkBytes ?? chunk) === chunk,
  );
  const nicsPerRank = Math.max(...used.map(nicsOf));
  // The model has one number of NICs: rows over several of them tell something only where a run used as many.
  const isOfModel = (run: Run, { column }: MeasuredFigure) =>
    nicsOf(run) === nicsPerRank || traitsOf(column).strategy === 'single';
  const figures = used.flatMap((run) =>
    figuresOfRuns([run])
      .filter((figure) => isOfModel(run, figure))
      .map((figure): MeasuredFigure => ({ ...figure, ...modelledWorld(run) })),
  );
  if (figures.length === 0) return undefined;
  const frame = {
    schema: fabricSchemaName,
    name: 'fitted to these runs',
    source: used.map(({ id }) => id).join(', '),
    nicsPerRank,
    lineRateGbps: lineRateOf(used),
    chunkBytes: typeof chunk === 'number' ? chunk : 2 ** 20,
  } as const;
  const fit = (also: readonly RowChoice[]) =>
    fitModel(
      frame,
      fitRows(figures, also, (id) => byId(id)!),
    ).model;
  return tryFit(() => fit(telling(figures))) ?? tryFit(() => fit([]));
}

/** The nominal rate of a NIC; where it is not known, the fastest single-channel row. */
function lineRateOf(runs: readonly Run[]): number {
  const known = runs[0]!.fabric.channels[0]?.lineRateGbps;
  const rates = runs.flatMap(({ rows }) =>
    rows
      .filter(({ column }) => traitsOf(column).strategy === 'single')
      .map(({ gbps }) => gbps ?? 0),
  );
  return known ?? Math.max(1e-3, ...rates);
}

/** The rows that tell what single-channel rows do not: the smallest split write, the largest exchange over one NIC. */
function telling(figures: readonly MeasuredFigure[]): RowChoice[] {
  const of = (benchmark: string, strategy: string) =>
    figures
      .filter((one) => one.benchmark === benchmark && traitsOf(one.column).strategy === strategy)
      .sort((a, b) => a.bytes - b.bytes);
  return [of('write', 'multi')[0], of('all2all', 'single').at(-1)]
    .filter((one) => one !== undefined)
    .map(({ benchmark, column, bytes }) => ({ benchmark, column, bytes }));
}

function tryFit(fit: () => FabricModel): FabricModel | undefined {
  try {
    return fit();
  } catch (error) {
    if (isWeftError(error) && error.code === 'BAD_USAGE') return undefined;
    throw error;
  }
}
