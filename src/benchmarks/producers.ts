import { WeftError } from '../errors.js';
import { gpuAvailability, openGpu } from '../gpu/gpu.js';
import type { OwnOption } from '../runner/benchmark.js';
import type { Settings } from '../runner/settings.js';
import { gpuNumberOf } from '../session/devices.js';
import type { World } from '../world/world.js';

/** Who pushes: the threads of a GPU, or CPU threads in their place. */
export interface Producers {
  readonly kind: 'gpu' | 'cpu';
  /** Of this rank. Absent for CPU threads. */
  readonly gpu?: number;
  /** Every rank's GPU is the same one. */
  readonly shared: boolean;
}

const kinds = ['auto', 'cpu', 'gpu'] as const;

export const producerOption: OwnOption = {
  flags: '--producer <who>',
  key: 'producer',
  summary: 'gpu, cpu, or auto: a GPU where there is one (default: auto)',
  parse: (text) => {
    if (kinds.some((kind) => kind === text)) return text;
    throw new Error(`It must be ${kinds.join(', ')}.`);
  },
};

const mostOfShape = 65_535;

/** A list of whole numbers: `1,16,128`. */
const parseShape = (most: number) => (text: string) => {
  const list = text.split(',').map((part) => Number(part.trim() || Number.NaN));
  if (list.every((value) => Number.isInteger(value) && value > 0 && value <= most)) return list;
  throw new Error(`It must be whole numbers from 1 to ${most}, with commas between them.`);
};

export const gridOption: OwnOption = {
  flags: '--grid <list>',
  key: 'grid',
  summary: 'blocks, e.g. 1,16,128 (CPU producers: threads)',
  parse: parseShape(mostOfShape),
};

export const blockOption: OwnOption = {
  flags: '--block <list>',
  key: 'block',
  summary: 'threads per block, e.g. 32,256 (CPU producers: elements at a time)',
  parse: parseShape(1024),
};

export interface Shape {
  readonly grid: number;
  readonly block: number;
}

/** Every grid asked for with every block asked for; with neither, `usual`. */
export function shapesOf({ own = {} }: Settings, usual: readonly Shape[]): readonly Shape[] {
  const { grid, block } = own as { grid?: readonly number[]; block?: readonly number[] };
  if (!grid && !block) return usual;
  const grids = grid ?? [...new Set(usual.map((shape) => shape.grid))];
  const blocks = block ?? [...new Set(usual.map((shape) => shape.block))];
  return grids.flatMap((one) => blocks.map((other) => ({ grid: one, block: other })));
}

/** A GPU that was asked for is on this machine, where local ranks are about to be started. */
export function refuseMissingGpu({ own = {} }: Settings): void {
  const there = own.producer === 'gpu' ? gpuAvailability() : undefined;
  if (there && 'reason' in there) throw noGpu('this machine has no GPU', there.reason);
}

const noGpu = (message: string, cause: unknown): WeftError =>
  new WeftError('NO_GPU', message, {
    hint: 'Use --producer cpu, or leave it out, for CPU threads in their place.',
    cause,
  });

/**
 * The same kind on every rank: a GPU where every rank has one, unless asked otherwise. Ranks of a host take its GPUs
 * in turn.
 */
export async function chooseProducers(
  world: World,
  { own = {}, gpus }: Settings,
): Promise<Producers> {
  const asked = (own.producer ?? 'auto') as (typeof kinds)[number];
  const there = asked === 'cpu' ? { gpus: [] } : gpuAvailability();
  const counts = await world.allgather('gpus', there.gpus.length);
  const without = counts.indexOf(0);
  if (without >= 0) {
    if (asked !== 'gpu') return { kind: 'cpu', shared: false };
    throw noGpu(`rank ${without} has no GPU`, 'reason' in there ? there.reason : undefined);
  }
  const gpu = gpuNumberOf(world.localRank, there.gpus.length, gpus) ?? 0;
  openGpu(gpu);
  const place = `${world.members[world.rank]!.bootId} ${there.gpus[gpu]!.pci}`;
  const places = await world.allgather('GPU', place);
  return { kind: 'gpu', gpu, shared: places.length > 1 && new Set(places).size === 1 };
}

/** More threads of ours on this host than it has cores. */
export function spinsFor(threads: number, cores: number): number {
  return threads > cores ? 0 : 400;
}
