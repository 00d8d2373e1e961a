import type { Environment } from '../../src/world/identity.js';

// Environments as real launchers make them (Slurm 22.05, Open MPI 4.1, MPICH 4.0, torchrun 1.13).
export const batchScript: Environment = {
  SLURM_JOB_ID: '5',
  SLURM_JOB_NODELIST: 'node[1-2]',
  SLURM_NTASKS: '4',
  SLURM_NODEID: '0',
  SLURM_PROCID: '0',
  SLURM_LOCALID: '0',
  SLURM_TASKS_PER_NODE: '2(x2)',
};
export const salloc: Environment = {
  SLURM_JOB_ID: '2',
  SLURM_JOB_NODELIST: 'node[1-2]',
  SLURM_NTASKS: '4',
  SLURM_TASKS_PER_NODE: '2(x2)',
};
export const step = (rank: number, size: number, nodes = 2): Environment => ({
  SLURM_CLUSTER_NAME: 'c',
  SLURM_JOB_ID: '5',
  SLURM_STEP_ID: '1',
  SLURM_PROCID: `${rank}`,
  SLURM_LOCALID: `${rank % (size / nodes)}`,
  SLURM_NODEID: `${Math.floor(rank / (size / nodes))}`,
  SLURM_NTASKS: `${size}`,
  SLURM_STEP_NUM_TASKS: `${size}`,
  SLURM_STEP_NODELIST: nodes === 1 ? 'node1' : `node[1-${nodes}]`,
  SLURM_STEP_TASKS_PER_NODE: nodes === 1 ? `${size}` : `${size / nodes}(x${nodes})`,
});
export const openmpi = (rank: number, size: number, local = size): Environment => ({
  OMPI_COMM_WORLD_RANK: `${rank}`,
  OMPI_COMM_WORLD_SIZE: `${size}`,
  OMPI_COMM_WORLD_LOCAL_RANK: `${rank % local}`,
  OMPI_COMM_WORLD_LOCAL_SIZE: `${local}`,
  OMPI_UNIVERSE_SIZE: '16',
  PMIX_NAMESPACE: '567541761',
  PMIX_RANK: `${rank}`,
});
export const mpich = (rank: number, size: number, local = size): Environment => ({
  PMI_RANK: `${rank}`,
  PMI_SIZE: `${size}`,
  PMI_FD: '8',
  MPI_LOCALRANKID: `${rank % local}`,
  MPI_LOCALNRANKS: `${local}`,
});
export const torchrun = (rank: number, size: number, local = size): Environment => ({
  RANK: `${rank}`,
  WORLD_SIZE: `${size}`,
  LOCAL_RANK: `${rank % local}`,
  LOCAL_WORLD_SIZE: `${local}`,
  GROUP_RANK: `${Math.floor(rank / local)}`,
  GROUP_WORLD_SIZE: `${size / local}`,
  MASTER_ADDR: 'localhost',
  MASTER_PORT: '29500',
  TORCHELASTIC_RUN_ID: 'none',
  TORCHELASTIC_RESTART_COUNT: '0',
  TORCHELASTIC_USE_AGENT_STORE: 'True',
});
export const local = (rank: number): Environment => ({
  WEFT_RANK: `${rank}`,
  WEFT_SIZE: '4',
  WEFT_MASTER: '[::1]:4711',
  WEFT_JOB: 'j',
  WEFT_LISTEN_FD: '4',
});
/** A pod of an Indexed Job, with what its manifest says. */
export const indexed = (index: number, pods: number, ranks = 1): Environment => ({
  JOB_COMPLETION_INDEX: `${index}`,
  WEFT_PODS: `${pods}`,
  WEFT_RANKS_PER_POD: `${ranks}`,
  MASTER_ADDR: 'job-0.svc',
  MASTER_PORT: '29500',
});

/** As Training Operator 1.9 sets them. */
export const pytorchJob = (index: number, pods: number, ranks = 1): Environment => ({
  PET_NNODES: `${pods}`,
  PET_NODE_RANK: `${index}`,
  PET_NPROC_PER_NODE: `${ranks}`,
  RANK: `${index}`,
  WORLD_SIZE: `${pods * ranks}`,
  MASTER_ADDR: 'job-master-0',
  MASTER_PORT: '23456',
});

/** As Kubeflow Trainer sets them, in an Indexed Job. */
export const trainJob = (index: number, pods: number, ranks: string): Environment => ({
  PET_NNODES: `${pods}`,
  PET_NODE_RANK: `${index}`,
  PET_NPROC_PER_NODE: ranks,
  PET_MASTER_ADDR: 'job-node-0-0.job',
  PET_MASTER_PORT: '29500',
  JOB_COMPLETION_INDEX: `${index}`,
});
