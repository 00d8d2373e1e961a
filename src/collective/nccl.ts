import { gpuAvailability } from '../gpu/gpu.js';
import { addon, isNativeFault } from '../native/addon.js';
import { type Backend, type BackendJob, together, Unavailable } from './backend.js';
import { openPeer } from './peer-backend.js';

/** WEFT_NCCL alone if set, else the system's. */
export const ncclPath = (env: NodeJS.ProcessEnv = process.env): string =>
  env.WEFT_NCCL || 'libnccl.so.2';

const howToInstall =
  'install libnccl2 from NVIDIA’s package repository, or set WEFT_NCCL to the path of a libnccl.so.2';

/** How many GPUs NCCL could use here; throws Unavailable where that is none, with the way to get there. */
export function requireNccl(): number {
  const available = gpuAvailability();
  if ('reason' in available) {
    const { message, hint } = available.reason;
    throw new Unavailable(`NCCL needs a GPU: ${message}. ${hint ?? ''}`.trim());
  }
  try {
    new (addon().Peer)(ncclPath(), 'nccl');
  } catch (error) {
    if (!isNativeFault(error)) throw error;
    throw new Unavailable(notLoaded(error.text));
  }
  return available.gpus.length;
}

const notLoaded = (reason: string): string =>
  `NCCL could not be loaded (${reason}): ${howToInstall}`;

/** The GPU of a local rank: ranks beyond the last GPU begin again at the first, and NCCL refuses them. */
export const gpuOf = (localRank: number, gpus: number): number => localRank % gpus;

const shared =
  'NCCL wants a GPU of its own for every rank. Start one rank per GPU (--ranks, --nproc_per_node), or compare ' +
  'with --backend fabric or gloo, which do not use the GPU.';

export async function openNccl(job: BackendJob): Promise<Backend> {
  const { world, interfaces } = job;
  await together(world, 'nccl library', requireNccl);
  // NCCL reads it when its first group is made; what the user set is the user's.
  if (interfaces.length > 0) process.env.NCCL_SOCKET_IFNAME ??= `=${interfaces.join(',')}`;
  return openPeer(job, {
    id: 'nccl',
    path: ncclPath(),
    unavailable: notLoaded,
    hint: (reason) => {
      if (/duplicate gpu/i.test(reason)) return shared;
      if (/out of memory/i.test(reason))
        return 'Use smaller messages: both tensors lie on the GPU.';
      return 'Run again with NCCL_DEBUG=INFO to see what NCCL says.';
    },
  });
}
