import { WeftError } from '../errors.js';
import { gpuAvailability, openGpu } from '../gpu/gpu.js';
import { gpuNumberOf } from '../session/devices.js';
import { choice, numbers, option } from '../settings/option.js';
import type { Settings } from '../settings/table.js';
import type { World } from '../world/world.js';

/** Who pushes: the threads of a GPU, or CPU threads in their place. */
export interface Producers {
  readonly kind: 'gpu' | 'cpu';
  /** Of this rank. Absent for CPU threads. */
  readonly gpu?: number;
  /** Every rank's GPU is the same one. */
  readonly shared: boolean;
}

export const producerOption = option({
  flags: '--producer <who>',
  help: 'what issues requests: gpu, cpu, auto',
  kind: choice(['auto', 'cpu', 'gpu']),
  default: 'auto',
});

export const gridOption = option({
  flags: '--grid <list>',
  help: 'blocks (or CPU threads), e.g. 1,16,128',
  kind: numbers(1, 65_535),
});

export const blockOption = option({
  flags: '--block <list>',
  help: 'threads per block, e.g. 32,256',
  kind: numbers(1, 1024),
});

export interface Shape {
  readonly grid: number;
  readonly block: number;
}

/** Every grid asked for with every block asked for; with neither, `usual`. */
export function shapesOf(
  { grid, block }: { readonly grid?: readonly number[]; readonly block?: readonly number[] },
  usual: readonly Shape[],
): readonly Shape[] {
  if (!grid && !block) return usual;
  const grids = grid ?? [...new Set(usual.map((shape) => shape.grid))];
  const blocks = block ?? [...new Set(usual.map((shape) => shape.block))];
  return grids.flatMap((one) => blocks.map((other) => ({ grid: one, block: other })));
}

/** How a benchmark with `producerOption` was asked for. */
interface AskedProducer {
  readonly settings: Settings;
  readonly options: { readonly producer: 'auto' | 'cpu' | 'gpu' };
}

/** A GPU that was asked for is on this machine, where local ranks are about to be started. */
export function refuseMissingGpu({ options }: AskedProducer): void {
  const there = options.producer === 'gpu' ? gpuAvailability() : undefined;
  if (there && 'reason' in there) throw noGpu('this machine has no GPU', there.reason);
}

const noGpu = (message: string, cause: unknown): WeftError =>
  new WeftError('NO_GPU', message, {
    hint: 'Use `producer` cpu, or leave it out, to run CPU threads instead.',
    cause,
  });

/**
 * The same kind on every rank: a GPU where every rank has one, unless asked otherwise. Ranks of a host take its GPUs
 * in turn.
 */
export async function chooseProducers(
  world: World,
  { options: { producer: asked }, settings: { gpus } }: AskedProducer,
): Promise<Producers> {
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
