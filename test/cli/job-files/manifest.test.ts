import { readFileSync } from 'node:fs';
import { Job } from 'kubernetes-models/batch/v1';
import { ClusterRole, ClusterRoleBinding } from 'kubernetes-models/rbac.authorization.k8s.io/v1';
import { PodTemplate, Secret, Service, ServiceAccount } from 'kubernetes-models/v1';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { manifest } from '../../../src/cli/job-files/manifest.js';
import { k8sOptions } from '../../../src/cli/job-files/options.js';
import type { PodJob } from '../../../src/cli/job-files/pod.js';
import { readOptions } from '../../../src/cli/options.js';

/** Manifests are JSON, and tests look anywhere in them. */
type Any = ReturnType<typeof JSON.parse>;

const plain = { nodes: 2, image: 'weft:1' };
const everything = {
  ...{ nodes: 4, image: 'weft:1', ranksPerNode: 8, gpusPerNode: 8, efa: 32 },
  ...{ namespace: 'fabric', time: 1_800_000, hugePages: 5 * 2 ** 30, memory: 64 * 2 ** 30 },
  ...{ resources: { 'rdma/hca': 1 }, shm: 2 ** 30, results: { claim: 'results' } },
  ...{ nodeSelector: { pool: 'p5' }, hostNetwork: true, name: 'bench', joinTimeout: 90_000 },
};

/** The objects that the flags of a command line give. */
const print = (flags: object): Any[] =>
  manifest(readOptions(flags, k8sOptions) as PodJob, ['all2all', '-b', '1M'], 'secret-token');
const find = (objects: Any[], kind: string): Any => objects.find((one) => one.kind === kind);

const schemaOf = (name: string): z.ZodType =>
  z.fromJSONSchema(
    JSON.parse(readFileSync(new URL(`schemas/${name}.json`, import.meta.url), 'utf8')),
  );
const jobSetSchema = schemaOf('jobset');
const mpiJobSchema = schemaOf('mpijob');

const job = (spec: Any) => ({ apiVersion: 'batch/v1', kind: 'Job', metadata: {}, spec });
const podTemplate = (template: Any) => ({ apiVersion: 'v1', kind: 'PodTemplate', template });

/** By the published schemas; what a custom kind contains of a core kind is checked as that. Throws. */
const validators: Record<string, (object: Any) => void> = {
  ServiceAccount: (object) => new ServiceAccount(object).validate(),
  ClusterRole: (object) => new ClusterRole(object).validate(),
  ClusterRoleBinding: (object) => new ClusterRoleBinding(object).validate(),
  Secret: (object) => new Secret(object).validate(),
  Service: (object) => new Service(object).validate(),
  Job: (object) => new Job(object).validate(),
  JobSet: (object) => {
    const { spec } = jobSetSchema.parse(object) as Any;
    for (const { template } of spec.replicatedJobs) new Job(job(template.spec)).validate();
  },
  MPIJob: (object) => {
    const { mpiReplicaSpecs } = (mpiJobSchema.parse(object) as Any).spec;
    for (const { template } of Object.values<Any>(mpiReplicaSpecs)) {
      new PodTemplate(podTemplate(template) as Any).validate();
    }
  },
};

/** Every value of an object with the way to it, but for names and labels: Kubernetes takes any there. */
function* leaves(value: Any, path: string[] = []): Generator<string[]> {
  if (value === null || typeof value !== 'object') yield path;
  else for (const [key, inner] of Object.entries(value)) yield* leaves(inner, [...path, key]);
}

function withWrong(object: Any, path: readonly string[]): Any {
  const copy = structuredClone(object);
  const [last = '', ...way] = [...path].reverse();
  const holder = way.reverse().reduce((inner, key) => inner[key], copy);
  holder[last] = typeof holder[last] === 'string' ? { wrong: true } : 'wrong';
  return copy;
}

test('the documents of the gate are valid', () => {
  const file = new URL('../../../integrations/kubernetes/gate.yaml', import.meta.url);
  for (const document of parseAllDocuments(readFileSync(file, 'utf8'))) {
    const object: Any = document.toJS();
    validators[object.kind]!(object);
  }
});

describe.each(['job', 'jobset', 'mpijob'])('the manifest of a %s', (kind) => {
  test.each([
    ['with defaults', { ...plain, kind }],
    ['with every option', { ...everything, kind }],
  ])('is valid %s, and the schemas know every field of it', (_, flags) => {
    for (const object of print(flags)) {
      const validate = validators[object.kind]!;
      validate(object);
      for (const path of leaves(object)) {
        if (path[0] === 'metadata') continue;
        expect(() => validate(withWrong(object, path)), path.join('.')).toThrow();
      }
    }
  });

  test('asks for devices, memory and one pod per host', () => {
    const objects = print({ ...everything, kind });
    const pod = rankPodOf(objects.at(-1));
    const [container] = pod.containers;
    expect(container.resources).toEqual({
      requests: { cpu: '8' },
      limits: {
        'nvidia.com/gpu': '8',
        'vpc.amazonaws.com/efa': '32',
        'rdma/hca': '1',
        'hugepages-2Mi': '5Gi',
        memory: '64Gi',
      },
    });
    expect(container.securityContext).toEqual({
      runAsUser: 0,
      capabilities: { add: ['IPC_LOCK'] },
    });
    expect(pod.volumes).toEqual([
      { name: 'shm', emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } },
      { name: 'results', persistentVolumeClaim: { claimName: 'results' } },
    ]);
    expect(pod.topologySpreadConstraints).toMatchObject([{ maxSkew: 1, minDomains: 4 }]);
    expect(pod).toMatchObject({ hostNetwork: true, nodeSelector: { pool: 'p5' } });
    expect(objects.every(({ metadata }) => metadata.namespace === 'fabric')).toBe(true);
  });

  test('keeps the token in the Secret only', () => {
    const [secret, ...others] = print({ ...plain, kind });
    expect(secret).toMatchObject({ kind: 'Secret', stringData: { token: 'secret-token' } });
    expect(JSON.stringify(others)).not.toContain('secret-token');
    expect(JSON.stringify(others)).toContain(`"name":"${secret.metadata.name}","key":"token"`);
  });
});

const rankPodOf = ({ kind, spec }: Any): Any => {
  if (kind === 'Job') return spec.template.spec;
  if (kind === 'JobSet') return spec.replicatedJobs[0].template.spec.template.spec;
  return spec.mpiReplicaSpecs.Worker.template.spec;
};

test('the Service selects the pods of its Job, and they are its subdomain', () => {
  const objects = print({ ...plain, name: 'bench' });
  const service = find(objects, 'Service');
  const { metadata, spec } = find(objects, 'Job').spec.template;
  expect(metadata.labels).toMatchObject(service.spec.selector);
  expect(service).toMatchObject({ metadata: { name: 'bench' }, spec: { clusterIP: 'None' } });
  expect(spec.subdomain).toBe('bench');
});

test('the launcher of an MPIJob is not counted among the pods with ranks', () => {
  const { Launcher, Worker } = find(print({ ...plain, kind: 'mpijob' }), 'MPIJob').spec
    .mpiReplicaSpecs;
  const [spread] = Worker.template.spec.topologySpreadConstraints;
  expect(Worker.template.metadata.labels).toMatchObject(spread.labelSelector.matchLabels);
  expect(Launcher.template.metadata.labels).not.toMatchObject(spread.labelSelector.matchLabels);
});
