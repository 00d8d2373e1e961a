import { expandHostList, expandTasksPerNode } from '../../topology/host-list.js';
import type { Environment, Identity } from '../identity.js';
import { conflict, derivedPort, integer, place, type Reader, successors } from './reading.js';

/** A task of a Slurm step. A batch script has SLURM_PROCID too, but no step: it is not a rank. */
export const srun: Reader = (env) => {
  if (env.SLURM_STEP_ID === undefined || env.SLURM_PROCID === undefined) return undefined;
  const at = place(env, 'SLURM_PROCID', 'SLURM_STEP_NUM_TASKS');
  if (at === undefined) return undefined;
  return {
    launcher: 'srun',
    ...at,
    mayRunInside: () => false,
    identity: () => srunIdentity(env, at),
  };
};

function srunIdentity(env: Environment, at: { rank: number; size: number }): Identity {
  const nodes = expandHostList(env.SLURM_STEP_NODELIST ?? env.SLURM_JOB_NODELIST ?? '');
  const tasks = expandTasksPerNode(env.SLURM_STEP_TASKS_PER_NODE ?? String(at.size));
  const node = integer(env, 'SLURM_NODEID', 0);
  const localSize = tasks[node] ?? 0;
  if (
    localSize < 1 ||
    nodes.length !== tasks.length ||
    tasks.reduce((a, b) => a + b, 0) !== at.size
  ) {
    throw conflict(
      'the node list, tasks per node and number of tasks of the step do not match',
      env,
    );
  }
  const jobId = `srun:${env.SLURM_CLUSTER_NAME ?? ''}:${env.SLURM_JOB_ID}.${env.SLURM_STEP_ID}`;
  const given = env.MASTER_PORT === undefined ? undefined : integer(env, 'MASTER_PORT', 1, 65_535);
  const port = given ?? derivedPort(jobId);
  const inBlocks = /^(block|\*)?(:|,|$)/.test(env.SLURM_DISTRIBUTION ?? '');
  return {
    launcher: 'srun',
    ...at,
    localRank: integer(env, 'SLURM_LOCALID', 0),
    localSize,
    hostIndex: node,
    oneHost: nodes.length === 1,
    expectedHosts: inBlocks
      ? nodes.flatMap((name, i) => new Array<string>(tasks[i] ?? 0).fill(name))
      : undefined,
    masterHost: env.MASTER_ADDR ?? nodes[0],
    ports: given === undefined ? [port, ...successors(port)] : [port],
    jobId,
  };
}
