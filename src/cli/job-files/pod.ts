import type { K8sOptions, Volume } from './options.js';

/** A part of a manifest, as JSON. */
export type Json = { readonly [key: string]: unknown };

export type PodJob = K8sOptions & Required<Pick<K8sOptions, 'nodes' | 'image'>>;

export const resultsFolder = '/results';
export const masterPort = 29_500;

/** Found on the pods that hold ranks, and on no others. */
export const labelsOf = ({ name }: Pick<PodJob, 'name'>, component = 'rank'): Json => ({
  'app.kubernetes.io/name': 'weft',
  'app.kubernetes.io/instance': name,
  'app.kubernetes.io/component': component,
});

/** Kubernetes gives an added capability to root only, whatever the image's user. */
const lockingMemory = { runAsUser: 0, capabilities: { add: ['IPC_LOCK'] } };

/** A pod that holds ranks: the same for all kinds of jobs, but for what its container runs. */
export function rankPod(job: PodJob, container: Json): Json {
  const { hostNetwork, nodeSelector, gpusPerNode, image } = job;
  return {
    metadata: { labels: labelsOf(job) },
    spec: {
      // A Service called master would set MASTER_PORT in every pod.
      enableServiceLinks: false,
      automountServiceAccountToken: false,
      ...(hostNetwork && { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' }),
      ...(nodeSelector && { nodeSelector }),
      ...(gpusPerNode && { tolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists' }] }),
      topologySpreadConstraints: [onePerHost(job)],
      containers: [
        {
          name: 'weft',
          image,
          ...container,
          resources: resourcesOf(job),
          securityContext: lockingMemory,
          volumeMounts: [
            { name: 'shm', mountPath: '/dev/shm' },
            { name: 'results', mountPath: resultsFolder },
          ],
        },
      ],
      volumes: [
        { name: 'shm', emptyDir: { medium: 'Memory', sizeLimit: mebibytes(job.shmBytes) } },
        { name: 'results', ...volumeOf(job.results) },
      ],
    },
  };
}

/** With as many domains as pods, the second pod of a host is never within the skew. */
const onePerHost = (job: PodJob): Json => ({
  maxSkew: 1,
  minDomains: job.nodes,
  topologyKey: 'kubernetes.io/hostname',
  whenUnsatisfiable: 'DoNotSchedule',
  labelSelector: { matchLabels: labelsOf(job) },
});

/** Kubernetes copies the limit of a device to its request. A rank polls: it needs a core of its own. */
function resourcesOf(job: PodJob): Json {
  const { gpusPerNode, efa, hugePageBytes, memoryBytes, resources, ranksPerNode } = job;
  const limits = {
    ...(gpusPerNode && { 'nvidia.com/gpu': String(gpusPerNode) }),
    ...(efa && { 'vpc.amazonaws.com/efa': String(efa) }),
    ...Object.fromEntries(Object.entries(resources ?? {}).map(([key, n]) => [key, String(n)])),
    ...(hugePageBytes && { 'hugepages-2Mi': mebibytes(hugePageBytes) }),
    ...(memoryBytes && { memory: mebibytes(memoryBytes) }),
  };
  return {
    requests: { cpu: String(ranksPerNode) },
    ...(Object.keys(limits).length > 0 && { limits }),
  };
}

const mebibytes = (bytes: number): string => {
  const whole = Math.ceil(bytes / 2 ** 20);
  return whole % 1024 === 0 ? `${whole / 1024}Gi` : `${whole}Mi`;
};

function volumeOf(volume: Volume): Json {
  if (volume === 'empty') return { emptyDir: {} };
  if ('claim' in volume) return { persistentVolumeClaim: { claimName: volume.claim } };
  return { hostPath: { path: volume.path, type: 'DirectoryOrCreate' } };
}

/** What every rank needs beside its place; `WEFT_TOKEN` comes from the Secret. */
export const commonVariables = ({ joinMs, efa }: PodJob): Record<string, string> => ({
  WEFT_JOIN_TIMEOUT: String(Math.ceil(joinMs / 1000)),
  ...(efa && { FI_PROVIDER: 'efa' }),
});

export const env = (values: Record<string, string>): Json[] =>
  Object.entries(values).map(([name, value]) => ({ name, value }));

export const secretName = ({ name }: Pick<PodJob, 'name'>): string => `${name}-token`;

export const tokenVariable = (job: PodJob): Json => ({
  name: 'WEFT_TOKEN',
  valueFrom: { secretKeyRef: { name: secretName(job), key: 'token' } },
});
