import { gpuAvailability } from '../gpu/gpu.js';
import { addon, isNativeFault } from '../native/addon.js';
import { gpuNumberOf } from '../session/devices.js';
import type { World } from '../world/world.js';
import { openPeer } from './open-peer.js';
import { type Peer, type PeerJob, together, Unavailable } from './peer.js';

/** WEFT_NCCL alone if set, else the system's. */
const ncclPath = (env: NodeJS.ProcessEnv = process.env): string => env.WEFT_NCCL || 'libnccl.so.2';

const howToInstall =
  'install libnccl2 from NVIDIA’s package repository, or set WEFT_NCCL to the path of a libnccl.so.2';

/** How many GPUs NCCL could use here; throws Unavailable where that is none, with the way to get there. */
export function requireNccl(): number {
  const available = gpuAvailability();
  if ('reason' in available) {
    const { message, hint } = available.reason;
    throw new Unavailable(`NCCL needs a GPU: ${message}. ${hint ?? ''}`.trim());
  }
  const path = ncclPath();
  if (path === loadable) return available.gpus.length;
  try {
    new (addon().Peer)(path, 'nccl');
  } catch (error) {
    if (!isNativeFault(error)) throw error;
    throw new Unavailable(notLoaded(error.text));
  }
  loadable = path;
  return available.gpus.length;
}

/** What has been loaded once: each try costs a thread. */
let loadable: string | undefined;

const notLoaded = (reason: string): string =>
  `NCCL could not be loaded (${reason}): ${howToInstall}`;

/** This rank's GPU. Ranks beyond the last begin again at the first, and NCCL refuses them. */
export const requireGpu = ({ localRank }: World, asked: readonly number[] | undefined): number =>
  gpuNumberOf(localRank, requireNccl(), asked) ?? 0;

const shared =
  'NCCL needs one GPU per rank. Start one rank per GPU (`ranks`, or --nproc_per_node of torchrun), or use ' +
  '`backends` fabric or gloo, which do not use the GPU.';

export async function openNccl(job: PeerJob): Promise<Peer> {
  const { world, interfaces, ifaceGiven, gpus } = job;
  const everyones = await together(world, 'nccl library', () => requireGpu(world, gpus));
  // NCCL reads it when its first group is made; what the user set there yields to --iface alone.
  if (interfaces.length > 0 && (ifaceGiven || process.env.NCCL_SOCKET_IFNAME === undefined)) {
    process.env.NCCL_SOCKET_IFNAME = `=${interfaces.join(',')}`;
  }
  return openPeer(job, {
    id: 'nccl',
    path: ncclPath(),
    gpu: everyones[world.rank]!,
    unavailable: notLoaded,
    hint: (reason) => {
      if (/duplicate gpu/i.test(reason)) return shared;
      if (/out of memory/i.test(reason))
        return 'Use smaller messages: both tensors are in GPU memory.';
      return 'Run again with NCCL_DEBUG=INFO to see the log of NCCL.';
    },
  });
}
