import {
  commonVariables,
  env,
  type Json,
  labelsOf,
  masterPort,
  type PodJob,
  rankPod,
  resultsFolder,
  secretName,
  tokenVariable,
} from './pod.js';

/** The objects of a job, in the order in which they are created. */
export function manifest(job: PodJob, command: readonly string[], token: string): Json[] {
  const secret = object(job, 'v1', 'Secret', { name: secretName(job) }, { stringData: { token } });
  if (job.kind === 'mpijob') return [secret, mpiJob(job, command)];
  if (job.kind === 'jobset') return [secret, jobSet(job, command)];
  return [secret, service(job), indexedJob(job, command)];
}

function object(job: PodJob, apiVersion: string, kind: string, metadata: Json, rest: Json): Json {
  const { namespace } = job;
  return { apiVersion, kind, metadata: { ...metadata, ...(namespace && { namespace }) }, ...rest };
}

/** Pod 0 is found as NAME-0.NAME, also before it is ready. */
const service = (job: PodJob): Json =>
  object(
    job,
    'v1',
    'Service',
    { name: job.name },
    { spec: { clusterIP: 'None', publishNotReadyAddresses: true, selector: labelsOf(job) } },
  );

const indexedJob = (job: PodJob, command: readonly string[]): Json => {
  const pod = indexedPod(job, command, `${job.name}-0.${job.name}`);
  const named = { ...pod, spec: { subdomain: job.name, ...(pod.spec as Json) } };
  return object(job, 'batch/v1', 'Job', { name: job.name }, { spec: jobSpec(job, named) });
};

/** A pod that failed is not replaced: the others have ended with it. */
const jobSpec = ({ nodes, timeMs }: PodJob, template: Json): Json => ({
  completionMode: 'Indexed',
  completions: nodes,
  parallelism: nodes,
  backoffLimit: 0,
  ...deadline(timeMs),
  template,
});

const deadline = (timeMs: number | undefined): Json =>
  timeMs === undefined ? {} : { activeDeadlineSeconds: Math.ceil(timeMs / 1000) };

const replicatedJob = 'pods';

/** The controller makes the Service, and numbers jobs and restarts in labels of the pods. */
function jobSet(job: PodJob, command: readonly string[]): Json {
  const { name } = job;
  const fromLabels = {
    JOBSET_JOB_INDEX: 'job-index',
    JOBSET_REPLICAS: 'replicatedjob-replicas',
    JOBSET_RESTART_ATTEMPT: 'restart-attempt',
  };
  const variables = Object.entries(fromLabels).map(([variable, label]) => ({
    name: variable,
    valueFrom: { fieldRef: { fieldPath: `metadata.labels['jobset.sigs.k8s.io/${label}']` } },
  }));
  const first = `${name}-${replicatedJob}-0-0.${name}`;
  const template = { spec: jobSpec(job, indexedPod(job, command, first, variables)) };
  return object(
    job,
    'jobset.x-k8s.io/v1alpha2',
    'JobSet',
    { name },
    {
      spec: {
        network: { enableDNSHostnames: true, subdomain: name, publishNotReadyAddresses: true },
        failurePolicy: { maxRestarts: 0 },
        replicatedJobs: [{ name: replicatedJob, replicas: 1, template }],
      },
    },
  );
}

function indexedPod(
  job: PodJob,
  command: readonly string[],
  masterHost: string,
  variables: readonly Json[] = [],
): Json {
  const { nodes, ranksPerNode } = job;
  const pod = rankPod(job, {
    command: ['weft', ...command],
    workingDir: resultsFolder,
    env: [
      ...env({
        WEFT_PODS: String(nodes),
        WEFT_RANKS_PER_POD: String(ranksPerNode),
        MASTER_ADDR: masterHost,
        MASTER_PORT: String(masterPort),
        ...commonVariables(job),
      }),
      tokenVariable(job),
      ...variables,
    ],
  });
  return { ...pod, spec: { restartPolicy: 'Never', ...(pod.spec as Json) } };
}

/** Workers run sshd; mpirun in the launcher starts the ranks in them, and passes on the variables that -x names. */
function mpiJob(job: PodJob, command: readonly string[]): Json {
  const { name, nodes, ranksPerNode, image, timeMs } = job;
  const launcher = {
    name: 'weft',
    image,
    command: ['mpirun', ...mpirunOptions(job), 'weft', ...command],
    env: [tokenVariable(job)],
    resources: { requests: { cpu: '1' } },
    // As the workers: SSH logs in with the name and the keys of the same user.
    securityContext: { runAsUser: 0 },
  };
  const replicas = (count: number, template: Json) => ({
    replicas: count,
    restartPolicy: 'Never',
    template,
  });
  const launcherPod = {
    metadata: { labels: labelsOf(job, 'launcher') },
    spec: { enableServiceLinks: false, containers: [launcher] },
  };
  return object(
    job,
    'kubeflow.org/v2beta1',
    'MPIJob',
    { name },
    {
      spec: {
        mpiImplementation: 'OpenMPI',
        slotsPerWorker: ranksPerNode,
        launcherCreationPolicy: 'WaitForWorkersReady',
        runPolicy: { cleanPodPolicy: 'Running', backoffLimit: 0, ...deadline(timeMs) },
        mpiReplicaSpecs: {
          Launcher: replicas(1, launcherPod),
          Worker: replicas(nodes, rankPod(job, {})),
        },
      },
    },
  );
}

/** Weft places ranks itself, so mpirun must not bind them. */
function mpirunOptions(job: PodJob): string[] {
  const { name, nodes, ranksPerNode } = job;
  const variables = {
    MASTER_ADDR: `${name}-worker-0.${name}`,
    MASTER_PORT: String(masterPort),
    ...commonVariables(job),
  };
  const ssh =
    '-o ConnectionAttempts=10 -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null';
  return [
    '--allow-run-as-root',
    ...['-n', String(nodes * ranksPerNode), '--map-by', `ppr:${ranksPerNode}:node`],
    ...['--bind-to', 'none', '--mca', 'plm_rsh_args', ssh, '-wdir', resultsFolder],
    ...Object.entries(variables).flatMap(([key, value]) => ['-x', `${key}=${value}`]),
    ...['-x', 'WEFT_TOKEN', '-x', 'PATH'],
  ];
}
