import type { Environment, Launcher } from '../../world/index.js';
import { type Backend, type BackendJob, together, Unavailable } from './backend.js';
import type { Exchange } from './exchange.js';
import { openPeer } from './peer-backend.js';
import { howToBuild, requireShim } from './shims.js';

export type MpiName = 'openmpi' | 'mpich';
export const mpiTitle: Record<MpiName, string> = { openmpi: 'Open MPI', mpich: 'MPICH' };

/** MPI knows its ranks only through its own launcher: the one that started this process decides which MPI it is. */
export function mpiOf(launcher: Launcher, env: Environment): MpiName {
  if (launcher === 'openmpi' || launcher === 'mpich') return launcher;
  // srun speaks to MPI where it was asked to: --mpi=pmix, --mpi=pmi2.
  if (launcher === 'srun' && env.PMIX_RANK !== undefined) return 'openmpi';
  if (launcher === 'srun' && env.PMI_FD !== undefined) return 'mpich';
  throw new Unavailable(
    launcher === 'local' || launcher === 'single'
      ? `MPI is not set up here: ${howToBuild('openmpi')}`
      : `${launcher} started the ranks, but MPI needs its own launcher: use mpirun, or srun --mpi=pmix`,
  );
}

const mostElements = 2 ** 31 - 1;

/** MPI counts elements with 32 bits: those of a block, and where blocks differ also those before it. */
export function refuseLargeCounts(exchange: Exchange): void {
  const { matrix, uniform, elementBytes } = exchange;
  const bytes = uniform ? (matrix[0]?.[0] ?? 0) : exchange.busiestBytes(true);
  if (bytes / elementBytes <= mostElements) return;
  throw new Unavailable(
    `MPI counts are 32-bit, but this exchange has more than ${mostElements} elements: use smaller messages or fewer ranks`,
  );
}

export async function openMpi(job: BackendJob, env: Environment = process.env): Promise<Backend> {
  const { world, exchange } = job;
  const [chosen] = await together(world, 'mpi shim', () => {
    const name = mpiOf(world.launcher, env);
    refuseLargeCounts(exchange);
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
