import type { Environment, Identity } from '../identity.js';
import {
  conflict,
  firstHost,
  localPlace,
  master,
  optional,
  place,
  type Reader,
  successors,
} from './reading.js';

/** torchrun, and ranks set by hand after its convention (RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT). */
export const torchrun: Reader = (env) => {
  const agent = env.TORCHELASTIC_RUN_ID !== undefined;
  // A pod of a PyTorchJob or TrainJob: RANK, if set, is the pod's.
  if (!agent && env.PET_NNODES !== undefined && env.LOCAL_RANK === undefined) return undefined;
  // Batch scripts often export WORLD_SIZE for programs that read the rest from Slurm or MPI themselves.
  const others = [env.SLURM_STEP_NUM_TASKS, env.OMPI_COMM_WORLD_SIZE, env.PMI_SIZE];
  if (!agent && env.RANK === undefined && others.includes(env.WORLD_SIZE)) return undefined;
  const at = place(env, 'RANK', 'WORLD_SIZE');
  if (at === undefined) {
    if (agent) throw conflict('TORCHELASTIC_RUN_ID is set, but RANK and WORLD_SIZE are not', env);
    return undefined;
  }
  const groups = optional(env, 'GROUP_WORLD_SIZE', 1);
  return {
    launcher: 'torchrun',
    ...at,
    // One agent per task of srun or mpirun; or one agent inside a step of one task.
    mayRunInside: (outer) => agent && (outer.size === groups || outer.size === 1),
    identity: () => torchrunIdentity(env, at, agent),
  };
};

function torchrunIdentity(
  env: Environment,
  at: { rank: number; size: number },
  agent: boolean,
): Identity {
  const where = localPlace(env, 'LOCAL_RANK', 'LOCAL_WORLD_SIZE', at.size);
  if (where === undefined && at.size > 1) {
    throw conflict('RANK and WORLD_SIZE are set, but LOCAL_RANK and LOCAL_WORLD_SIZE are not', env);
  }
  const meeting = master(env);
  if (meeting === undefined)
    throw conflict('RANK is set, but MASTER_ADDR and MASTER_PORT are not', env);
  // The agent itself may listen on MASTER_PORT; then rank 0 cannot.
  const heldByAgent = env.TORCHELASTIC_USE_AGENT_STORE?.toLowerCase() === 'true';
  const oneHost = (where?.size ?? 1) === at.size;
  const run = agent ? `${env.TORCHELASTIC_RUN_ID}:${env.TORCHELASTIC_RESTART_COUNT ?? 0}` : 'env';
  return {
    launcher: 'torchrun',
    ...at,
    localRank: where?.rank ?? 0,
    localSize: where?.size ?? 1,
    hostIndex: optional(env, 'GROUP_RANK', 0) ?? firstHost(at.rank, where?.rank ?? 0),
    oneHost,
    masterHost: meeting.host,
    ports: [...(heldByAgent ? [] : [meeting.port]), ...(agent ? successors(meeting.port) : [])],
    jobId: `torchrun:${run}:${meeting.port}`,
  };
}
