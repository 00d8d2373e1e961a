import type { Environment, Launcher } from '../world/index.js';
import { type Backend, type BackendJob, together, Unavailable } from './backend.js';
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
      ? `no MPI is set up here: ${howToBuild('openmpi')}`
      : `the ranks were started by ${launcher}, and MPI needs its own launcher: use mpirun, or srun --mpi=pmix`,
  );
}

export async function openMpi(job: BackendJob, env: Environment = process.env): Promise<Backend> {
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
    hint: (reason) =>
      /32 bits/.test(reason) ? 'Use smaller messages, or fewer ranks, with mpi.' : undefined,
  });
}
