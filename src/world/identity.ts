import { WeftError } from '../errors.js';
import { kubernetes } from './launchers/kubernetes.js';
import { local } from './launchers/local.js';
import { mpich, openmpi } from './launchers/mpi.js';
import { nodes } from './launchers/nodes.js';
import { conflict, type LauncherReading, type Reader } from './launchers/reading.js';
import { srun } from './launchers/srun.js';
import { torchrun } from './launchers/torchrun.js';
import type { NoticeBoard } from './rendezvous/notice.js';

export const launchers = [
  'single',
  'local',
  'nodes',
  'torchrun',
  'srun',
  'openmpi',
  'mpich',
  'kubernetes',
] as const;
export type Launcher = (typeof launchers)[number];

export type Environment = Readonly<Record<string, string | undefined>>;

/** Who this process is in its job, as the launcher's environment says. */
export interface Identity {
  readonly launcher: Launcher;
  readonly rank: number;
  readonly size: number;
  readonly localRank: number;
  readonly localSize: number;
  /** This process is no rank: it starts the ranks of its host, and they find theirs in WEFT_LOCAL_RANK. */
  readonly startsRanks?: boolean;
  /** Which of the job's hosts this is; undefined where the launcher does not say. */
  readonly hostIndex: number | undefined;
  /** Every rank runs on this host. */
  readonly oneHost: boolean;
  /** Where each rank is expected, when the launcher says. */
  readonly expectedHosts?: readonly string[] | undefined;
  /** The host of rank 0 as this process is to reach it; undefined when all are on this host. */
  readonly masterHost?: string | undefined;
  /** The ports rank 0 may listen on, in order of preference; 0 means any free one. */
  readonly ports: readonly number[];
  /** A listening socket that the parent opened for rank 0. */
  readonly listenFd?: number | undefined;
  /** The same on all ranks of a job and different between jobs, as far as the launcher allows. */
  readonly jobId: string;
  /** Set where the launcher does not say where rank 0 is: through this, rank 0 says it, and which job this is. */
  readonly board?: NoticeBoard | undefined;
}

export interface IdentifyOptions {
  /** Local ranks that were asked for: makes a lone process inside an allocation intentional. */
  ranks?: number;
  /** Believe this launcher and ignore traces of others; the variable WEFT_LAUNCHER does the same. */
  launcher?: Launcher;
  /** Names and pids of this process's ancestors, nearest first. */
  ancestors?: () => readonly { pid: number; name: string }[];
}

const single = (): Identity => ({
  launcher: 'single',
  rank: 0,
  size: 1,
  localRank: 0,
  localSize: 1,
  hostIndex: 0,
  oneHost: true,
  ports: [0],
  jobId: 'single',
});

/** Who am I? Pure: the same environment always gives the same answer. */
export function identify(env: Environment, options: IdentifyOptions = {}): Identity {
  const forced = forcedLauncher(env, options);
  if (forced === 'single') return single();
  if (forced !== undefined) {
    const reading = readers[forced](env, options);
    if (reading !== undefined) return reading.identity();
    throw conflict(`WEFT_LAUNCHER=${forced}, but the variables of ${forced} are not set`, env);
  }

  // Weft's own variables are nobody else's leftovers.
  const own = readers.local(env, options) ?? readers.nodes(env, options);
  if (own !== undefined) return own.identity();
  const found = (['torchrun', 'openmpi', 'mpich', 'srun'] as const)
    .map((name) => readers[name](env, options))
    .filter((reading) => reading !== undefined);
  // A pod may itself start ranks with torchrun or mpirun; only without them is it a host of its job.
  const inner = innermost(found, env) ?? readers.kubernetes(env, options);
  if (inner === undefined) {
    refuseStrangers(env);
    refuseLostRank(env, options);
    refuseLoneProcess(env, options);
    return single();
  }
  return inner.identity();
}

function forcedLauncher(env: Environment, options: IdentifyOptions): Launcher | undefined {
  const name = options.launcher ?? env.WEFT_LAUNCHER;
  if (name === undefined || name === '') return undefined;
  if (launchers.includes(name as Launcher)) return name as Launcher;
  throw new WeftError('BAD_USAGE', `WEFT_LAUNCHER=${name} is not a launcher`, {
    hint: `Use one of ${launchers.join(', ')}.`,
  });
}

/**
 * The launcher nearest to this process. Launchers nest in known ways: torchrun's agents, mpirun's daemons
 * and hydra's proxies are themselves started by srun (one per host), and torchrun's agents by mpirun. A
 * pair that fits none of these, and does not agree on rank and size, is a conflict.
 */
function innermost(found: LauncherReading[], env: Environment): LauncherReading | undefined {
  const [inner, ...outer] = found;
  if (inner === undefined) return undefined;
  for (const other of outer) {
    const agrees = other.rank === inner.rank && other.size === inner.size;
    if (!agrees && !inner.mayRunInside(other)) {
      throw conflict(
        inner.size < other.size
          ? `${other.launcher} started ${other.size} processes, but ${inner.launcher} puts them in separate worlds of ${inner.size}`
          : `${inner.launcher} says rank ${inner.rank} of ${inner.size}, ${other.launcher} says rank ${other.rank} of ${other.size}`,
        env,
      );
    }
  }
  return inner;
}

function refuseStrangers(env: Environment): void {
  for (const { name, traces } of foreignLaunchers) {
    if (traces.some((trace) => env[trace] !== undefined)) {
      throw conflict(
        `${name} started this process, but Weft cannot read its rank variables`,
        env,
        passThem,
      );
    }
  }
}

const passThem =
  'Pass RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR and MASTER_PORT to each rank, ' +
  'or set WEFT_LAUNCHER=single to run this process alone.';

/** The kernel keeps 15 characters of a name. */
const launcherProcess =
  /^(mpirun|mpiexec|orterun|orted|prterun|prted|hydra_pmi_proxy|pmi_proxy|mpispawn|aprun|jsrun)(\.\w+)?$/;

/** A launcher started this process, and its variables got lost on the way: each rank would run a job of its own. */
function refuseLostRank(env: Environment, { ranks, ancestors }: IdentifyOptions): void {
  const above = ranks === undefined ? (ancestors?.() ?? []) : [];
  const launcher = above.find(({ name }) => launcherProcess.test(name));
  if (launcher === undefined) return;
  const what = `${launcher.name} (pid ${launcher.pid}) started this process, but its rank variables are not in the environment`;
  throw conflict(what, env, passThem);
}

/** One process where a scheduler prepared several: alone it would measure something else than was meant. */
function refuseLoneProcess(env: Environment, options: IdentifyOptions): void {
  if (options.ranks !== undefined) return;
  const alone = 'or set `ranks` for ranks on this host only.';
  const tasks = Number(env.SLURM_NTASKS ?? env.SLURM_NPROCS ?? 1);
  if (env.SLURM_STEP_ID === undefined && tasks > 1) {
    throw conflict(
      `this Slurm allocation has ${tasks} tasks, but srun did not start this process`,
      env,
      `Put srun in front of the command, ${alone}`,
    );
  }
  if (env.K_MPI_JOB_ROLE === 'launcher') {
    throw conflict(
      'this is the launcher pod of an MPIJob, but mpirun did not start this process',
      env,
      `Put mpirun in front of the command, ${alone}`,
    );
  }
  if (env.JOB_COMPLETION_INDEX !== undefined) {
    throw conflict(
      'the number of pods is not set in this pod of an Indexed Job',
      env,
      `Set WEFT_PODS, MASTER_ADDR and MASTER_PORT as \`weft k8s\` does, ${alone}`,
    );
  }
}

const readers = { local, nodes, torchrun, srun, openmpi, mpich, kubernetes } satisfies Record<
  string,
  Reader
>;

/** Launchers that leave traces but whose ranks are not read: better an error than N worlds of 1. */
const foreignLaunchers = [
  { name: 'MVAPICH', traces: ['MV2_COMM_WORLD_RANK', 'MV2_COMM_WORLD_SIZE'] },
  { name: 'Cray PALS', traces: ['PALS_RANKID'] },
  { name: 'Cray ALPS', traces: ['ALPS_APP_PE'] },
  { name: 'jsrun', traces: ['JSM_NAMESPACE_RANK'] },
  { name: 'Flux', traces: ['FLUX_TASK_RANK'] },
  { name: 'a PMIx launcher', traces: ['PMIX_RANK', 'PMIX_NAMESPACE'] },
  { name: 'a PMI launcher', traces: ['PMI_FD', 'PMI_PORT', 'MPI_LOCALRANKID', 'MPI_LOCALNRANKS'] },
] as const;
