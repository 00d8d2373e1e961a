import type { Environment, Identity } from '../identity.js';
import type { NoticeBoard } from '../rendezvous/notice.js';
import {
  conflict,
  derivedPort,
  firstHost,
  localPlace,
  master,
  optional,
  place,
  type Reader,
  successors,
} from './reading.js';

export const openmpi: Reader = (env) => {
  const at = place(env, 'OMPI_COMM_WORLD_RANK', 'OMPI_COMM_WORLD_SIZE');
  if (at === undefined) return undefined;
  return {
    launcher: 'openmpi',
    ...at,
    // mpirun starts its daemons through srun, one per host.
    mayRunInside: (outer) => outer.launcher === 'srun' && outer.size <= at.size,
    identity: () => {
      const where = localPlace(
        env,
        'OMPI_COMM_WORLD_LOCAL_RANK',
        'OMPI_COMM_WORLD_LOCAL_SIZE',
        at.size,
      );
      if (where === undefined) throw conflict('OMPI_COMM_WORLD_LOCAL_RANK is missing', env);
      const job = env.PMIX_NAMESPACE ?? env.OMPI_MCA_ess_base_jobid ?? env.OMPI_MCA_orte_ess_jobid;
      if (job === undefined) throw conflict('PMIX_NAMESPACE is missing', env);
      return mpiIdentity(env, 'openmpi', at, where, job, { kind: 'pmix' });
    },
  };
};

/** MPICH's hydra. `srun --mpi=pmi2` sets PMI_RANK as well, but only hydra sets MPI_LOCALNRANKS. */
export const mpich: Reader = (env, options) => {
  if (env.PMI_JOBID !== undefined && env.SLURM_STEP_ID !== undefined) return undefined;
  const at = place(env, 'PMI_RANK', 'PMI_SIZE');
  if (at === undefined) return undefined;
  return {
    launcher: 'mpich',
    ...at,
    mayRunInside: (outer) =>
      outer.launcher === 'srun' && outer.size <= at.size && env.MPI_LOCALNRANKS !== undefined,
    identity: () => {
      const where = localPlace(env, 'MPI_LOCALRANKID', 'MPI_LOCALNRANKS', at.size);
      if (where === undefined)
        throw conflict('MPI_LOCALRANKID and MPI_LOCALNRANKS are missing', env);
      // hydra hands out no job id. On one host its proxy is everybody's ancestor.
      const oneHost = where.size === at.size;
      const above = oneHost ? (options.ancestors?.() ?? []) : [];
      const proxy = above.find(({ name }) => name.startsWith('hydra_pmi')) ?? above[0];
      const job = oneHost ? `${proxy?.pid ?? 0}` : `${env.MASTER_PORT}`;
      const fd = optional(env, 'PMI_FD', 0);
      const board = fd === undefined ? undefined : ({ kind: 'pmi', fd } as const);
      return mpiIdentity(env, 'mpich', at, where, job, board);
    },
  };
};

function mpiIdentity(
  env: Environment,
  launcher: 'openmpi' | 'mpich',
  at: { rank: number; size: number },
  where: { rank: number; size: number },
  job: string,
  board: NoticeBoard | undefined,
): Identity {
  const oneHost = where.size === at.size;
  const given = master(env);
  const asks = !oneHost && given === undefined;
  if (asks && board === undefined) {
    throw conflict(
      `${launcher} runs ${at.size} ranks on several hosts, but PMI_FD is missing`,
      env,
      'Pass the address of rank 0’s host and a free port on it: -genv MASTER_ADDR … -genv MASTER_PORT …',
    );
  }
  const jobId = `${launcher}:${job}`;
  const port = derivedPort(jobId);
  return {
    launcher,
    ...at,
    localRank: where.rank,
    localSize: where.size,
    hostIndex: firstHost(at.rank, where.rank),
    oneHost,
    masterHost: given?.host,
    ports: given === undefined ? [port, ...successors(port)] : [given.port],
    jobId,
    ...(asks && { board }),
  };
}
