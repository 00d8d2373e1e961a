import { local } from './local.js';
import { mpich, openmpi } from './mpi.js';
import type { Reader } from './reading.js';
import { srun } from './srun.js';
import { torchrun } from './torchrun.js';

export const readers = { local, torchrun, srun, openmpi, mpich } satisfies Record<string, Reader>;

/** Launchers that leave traces but whose ranks are not read: better an error than N worlds of 1. */
export const foreignLaunchers = [
  { name: 'MVAPICH', traces: ['MV2_COMM_WORLD_RANK', 'MV2_COMM_WORLD_SIZE'] },
  { name: 'Cray PALS', traces: ['PALS_RANKID'] },
  { name: 'Cray ALPS', traces: ['ALPS_APP_PE'] },
  { name: 'jsrun', traces: ['JSM_NAMESPACE_RANK'] },
  { name: 'Flux', traces: ['FLUX_TASK_RANK'] },
  { name: 'a PMIx launcher', traces: ['PMIX_RANK', 'PMIX_NAMESPACE'] },
  { name: 'a PMI launcher', traces: ['PMI_FD', 'PMI_PORT', 'MPI_LOCALRANKID', 'MPI_LOCALNRANKS'] },
] as const;
