import type { Environment } from '../identity.js';
import { conflict, integer, master, optional, place, type Reader } from './reading.js';

/** One pod among those of a job. Each is a host with the same number of ranks. */
interface Pod {
  readonly index: number;
  readonly pods: number;
  readonly ranks: number;
  readonly master: { readonly host: string; readonly port: number };
  /** What all pods are called, by index, where that follows from the name of pod 0. */
  readonly names: readonly string[] | undefined;
  /** Counts restarts of the whole job: ranks of an earlier attempt must not join a later one. */
  readonly attempt: number;
}

/**
 * A pod of an Indexed Job or a JobSet, whose manifest says how many pods there are, or of a PyTorchJob or TrainJob that
 * runs without torchrun. With several ranks per pod, the first process starts them, and each finds its local rank.
 */
export const kubernetes: Reader = (env) => {
  const pod = indexedPod(env) ?? operatorPod(env);
  if (pod === undefined) return undefined;
  const told = optional(env, 'WEFT_LOCAL_RANK', 0);
  const localRank = told ?? 0;
  if (localRank >= pod.ranks) {
    throw conflict(
      `WEFT_LOCAL_RANK=${localRank} is not below the ${pod.ranks} ranks of a pod`,
      env,
    );
  }
  const at = { rank: pod.index * pod.ranks + localRank, size: pod.pods * pod.ranks };
  return {
    launcher: 'kubernetes',
    ...at,
    mayRunInside: () => false,
    identity: () => ({
      launcher: 'kubernetes',
      ...at,
      localRank,
      localSize: pod.ranks,
      startsRanks: told === undefined && pod.ranks > 1,
      hostIndex: pod.index,
      oneHost: pod.pods === 1,
      expectedHosts: pod.names?.flatMap((name) => new Array<string>(pod.ranks).fill(name)),
      masterHost: pod.master.host,
      ports: [pod.master.port],
      jobId: `kubernetes:${pod.master.host}:${pod.attempt}`,
    }),
  };
};

/** Kubernetes gives the index of the pod, JobSet's labels that of its job; the manifest must give the rest. */
function indexedPod(env: Environment): Pod | undefined {
  if (env.WEFT_PODS === undefined) return undefined;
  if (env.JOB_COMPLETION_INDEX === undefined) {
    throw conflict('WEFT_PODS is set, but JOB_COMPLETION_INDEX is not', env, notIndexed);
  }
  const pods = integer(env, 'WEFT_PODS', 1);
  const jobs = place(env, 'JOBSET_JOB_INDEX', 'JOBSET_REPLICAS') ?? { rank: 0, size: 1 };
  if (pods % jobs.size !== 0) {
    throw conflict(`WEFT_PODS=${pods} is not a multiple of JOBSET_REPLICAS=${jobs.size}`, env);
  }
  const perJob = pods / jobs.size;
  const index = integer(env, 'JOB_COMPLETION_INDEX', 0);
  if (index >= perJob) {
    const limit = jobs.size === 1 ? `WEFT_PODS=${pods}` : `the ${perJob} pods of a job`;
    throw conflict(`JOB_COMPLETION_INDEX=${index} is not below ${limit}`, env, sameCount);
  }
  const meeting = masterOf(env);
  return {
    index: jobs.rank * perJob + index,
    pods,
    ranks: optional(env, 'WEFT_RANKS_PER_POD', 1) ?? 1,
    master: meeting,
    names: jobs.size === 1 ? podNames(meeting.host, pods) : undefined,
    attempt: optional(env, 'JOBSET_RESTART_ATTEMPT', 0) ?? 0,
  };
}

const notIndexed = 'Set `completionMode: Indexed` in the Job.';
const sameCount = 'Set completions and parallelism of the Job to the number of pods in WEFT_PODS.';

/** The Training Operator and Kubeflow Trainer set torchrun's PET_ variables; RANK is the pod's, not a process's. */
function operatorPod(env: Environment): Pod | undefined {
  if (env.PET_NNODES === undefined) return undefined;
  if (env.PET_NODE_RANK === undefined && env.PET_NNODES !== '1') {
    throw conflict('PET_NNODES is set, but PET_NODE_RANK is not', env, elastic);
  }
  const { rank: index, size: pods } = place(
    { PET_NODE_RANK: '0', ...env },
    'PET_NODE_RANK',
    'PET_NNODES',
  )!;
  const ranks = ranksOfOperator(env);
  const rank = optional(env, 'RANK', 0) ?? index;
  const size = optional(env, 'WORLD_SIZE', 1) ?? pods * ranks;
  // Older operators count pods in WORLD_SIZE, newer ones processes.
  if (rank !== index || (size !== pods && size !== pods * ranks)) {
    throw conflict(
      `RANK and WORLD_SIZE do not fit pod ${index} of ${pods} with ${ranks} ranks each`,
      env,
    );
  }
  const { PET_MASTER_ADDR = env.MASTER_ADDR, PET_MASTER_PORT = env.MASTER_PORT } = env;
  const named = { ...env, MASTER_ADDR: PET_MASTER_ADDR, MASTER_PORT: PET_MASTER_PORT };
  const meeting = masterOf(named);
  const names = podNames(meeting.host, pods);
  return { index, pods, ranks, master: meeting, names, attempt: 0 };
}

const elastic =
  'Pods of an elastic PyTorchJob have no ranks of their own: start Weft with torchrun --no_python in them.';

function ranksOfOperator(env: Environment): number {
  const asked = optional(env, 'WEFT_RANKS_PER_POD', 1);
  if (asked !== undefined) return asked;
  if (/^(auto|cpu|gpu)$/.test(env.PET_NPROC_PER_NODE ?? '')) {
    throw conflict(
      `PET_NPROC_PER_NODE=${env.PET_NPROC_PER_NODE} is not a number of ranks`,
      env,
      'Set the processes per node of the job to a number, or set WEFT_RANKS_PER_POD.',
    );
  }
  return optional(env, 'PET_NPROC_PER_NODE', 1) ?? 1;
}

function masterOf(env: Environment): Pod['master'] {
  const given = master(env);
  if (given !== undefined) return given;
  throw conflict(
    'MASTER_ADDR and MASTER_PORT are not set',
    env,
    'Set MASTER_ADDR to the name of pod 0, such as JOB-0.SERVICE, and MASTER_PORT to a port.',
  );
}

/** Pods of an Indexed Job are called JOB-INDEX, and JOB-0.SERVICE is where pod 0 is found. */
function podNames(host: string, pods: number): string[] | undefined {
  const job = /^([^.]+-)0\./.exec(host)?.[1];
  return job === undefined ? undefined : Array.from({ length: pods }, (_, i) => `${job}${i}`);
}
