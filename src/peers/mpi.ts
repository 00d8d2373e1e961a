import { adds, type Collective, elementBytesOf, footprintOf } from '../plan/collective.js';
import type { Environment, Launcher } from '../world/index.js';
import { openPeer } from './open-peer.js';
import { type Peer, type PeerJob, together, Unavailable } from './peer.js';
import { hasShim, howToBuild, requireShim } from './shims.js';

export type MpiName = 'openmpi' | 'mpich';
export const mpiTitle: Record<MpiName, string> = { openmpi: 'Open MPI', mpich: 'MPICH' };

/** MPI knows its ranks only through its own launcher: the one that started this process decides which MPI it is. */
export function mpiOf(launcher: Launcher, env: Environment): MpiName {
  if (launcher === 'openmpi' || launcher === 'mpich') return launcher;
  // srun speaks to MPI where it was asked to: --mpi=pmix, --mpi=pmi2.
  if (launcher === 'srun' && env.PMIX_RANK !== undefined) return 'openmpi';
  if (launcher === 'srun' && env.PMI_FD !== undefined) return 'mpich';
  if (launcher !== 'local' && launcher !== 'single') {
    throw new Unavailable(
      `${launcher} started the ranks, but MPI needs its own launcher: use mpirun, or srun --mpi=pmix`,
    );
  }
  throw new Unavailable(
    hasShim('openmpi') || hasShim('mpich')
      ? 'Weft started the ranks, but MPI needs its own launcher: start this command with mpirun'
      : `MPI is not set up here: ${howToBuild('openmpi')}`,
  );
}

const mostElements = 2 ** 31 - 1;

/** Why MPI cannot carry out a collective: it counts elements with 32 bits, and it has no 16-bit floating-point numbers. */
export function mpiRefusal(collective: Collective, world: number): string | undefined {
  if (mostCounted(collective, world) > mostElements) {
    return `MPI counts are 32-bit, but this exchange has more than ${mostElements} elements: use smaller messages or fewer ranks`;
  }
  if (!adds(collective) || elementBytesOf(collective.dtype) === 4) return undefined;
  return `MPI cannot add ${collective.dtype} numbers: use float32 or int32`;
}

/** The elements of a block; where blocks differ, also those before it. */
function mostCounted(collective: Collective, world: number): number {
  if (collective.kind !== 'alltoallv') return collective.bytes / elementBytesOf(collective.dtype);
  const { uniform, elementBytes } = collective;
  if (uniform) return (collective.sendBytes(0)[0] ?? 0) / elementBytes;
  const all = Array.from({ length: world }, (_, rank) => footprintOf(collective, rank, world));
  return (
    Math.max(...all.flatMap(({ sourceBytes, targetBytes }) => [sourceBytes, targetBytes])) /
    elementBytes
  );
}

export async function openMpi(job: PeerJob, env: Environment = process.env): Promise<Peer> {
  const { world } = job;
  const [chosen] = await together(world, 'mpi shim', () => {
    const name = mpiOf(world.launcher, env);
    return { name, path: requireShim(name, mpiTitle[name]) };
  });
  const { name, path } = chosen!;
  return openPeer(job, {
    id: 'mpi',
    path,
    unavailable: (reason) =>
      `${mpiTitle[name]} could not be loaded (${reason}): ${howToBuild(name)}`,
  });
}
