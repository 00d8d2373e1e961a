import { parseAllDocuments } from 'yaml';

/** Manifests are JSON. */
type Any = ReturnType<typeof JSON.parse>;

/** A container as the kubelet starts it. */
export interface Pod {
  readonly hostname: string;
  /** Under which the headless Service publishes it. */
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  readonly command: readonly string[];
}

const find = (objects: Any[], kind: string): Any => objects.find((one) => one.kind === kind);

/** Under which pods find each other, and what their resolv.conf searches. */
export const searches = ['default.svc.cluster.local', 'svc.cluster.local', 'cluster.local'];
const nameOf = (hostname: string, service: string) => `${hostname}.${service}.${searches[0]}`;

/** The variables of a container, with what Secrets and labels give, as in a pod with these labels. */
function environment(objects: Any[], container: Any, labels: Record<string, string> = {}) {
  const given = (container.env ?? []).map(({ name, value, valueFrom }: Any) => {
    if (value !== undefined) return [name, value];
    const { secretKeyRef, fieldRef } = valueFrom;
    if (secretKeyRef) {
      const secret = objects.find(
        ({ kind, metadata }) => kind === 'Secret' && metadata.name === secretKeyRef.name,
      );
      return [name, secret.stringData[secretKeyRef.key]];
    }
    return [name, labels[/^metadata\.labels\['(.+)'\]$/.exec(fieldRef.fieldPath)![1]!]];
  });
  return { KUBERNETES_SERVICE_HOST: '10.96.0.1', ...Object.fromEntries(given) };
}

/** The pods of one Indexed Job. */
function podsOfJob(objects: Any[], name: string, spec: Any, service: string, labels = {}): Pod[] {
  const [container] = spec.template.spec.containers;
  return Array.from({ length: spec.completions }, (_, index) => ({
    hostname: `${name}-${index}`,
    name: nameOf(`${name}-${index}`, service),
    env: {
      ...environment(objects, container, labels),
      HOSTNAME: `${name}-${index}`,
      JOB_COMPLETION_INDEX: `${index}`,
    },
    command: container.command,
  }));
}

/** What the controller makes of a printed Job. */
export function podsOf(objects: Any[]): Pod[] {
  const { metadata, spec } = find(objects, 'Job');
  const service = find(objects, 'Service').metadata.name;
  if (service !== spec.template.spec.subdomain) throw new Error('the pods have no names');
  return podsOfJob(objects, metadata.name, spec, service);
}

/** The init containers of the Job that the gate prints, on nodes of their own. */
export function podsOfGate(printed: string, count: number): Pod[] {
  const objects: Any[] = parseAllDocuments(printed).map((document) => document.toJS());
  const { spec } = find(objects, 'Job');
  const [{ command, args, env }] = spec.template.spec.initContainers;
  const counted = env
    .filter(({ name }: Any) => name !== 'WEFT_NODE')
    .map((one: Any) => (one.name === 'WEFT_PODS' ? { ...one, value: `${count}` } : one));
  spec.completions = count;
  spec.template.spec.containers = [{ command: [...command, ...args], env: counted }];
  const secret = { metadata: { name: 'weft-gate' }, stringData: { token: 'a token of this test' } };
  return podsOf([...objects, { kind: 'Secret', ...secret }]).map((pod, index) => ({
    ...pod,
    env: { ...pod.env, WEFT_NODE: `node${index}` },
  }));
}

/** What JobSet's controller makes of a printed JobSet. */
export function podsOfJobSet(objects: Any[]): Pod[] {
  const { metadata, spec } = find(objects, 'JobSet');
  return spec.replicatedJobs.flatMap(({ name, replicas, template }: Any) =>
    Array.from({ length: replicas }, (_, index) =>
      podsOfJob(
        objects,
        `${metadata.name}-${name}-${index}`,
        template.spec,
        spec.network.subdomain,
        {
          'jobset.sigs.k8s.io/job-index': `${index}`,
          'jobset.sigs.k8s.io/replicatedjob-replicas': `${replicas}`,
          'jobset.sigs.k8s.io/restart-attempt': '0',
        },
      ),
    ).flat(),
  );
}

/** What the MPI Operator makes of a printed MPIJob: a launcher, and workers that run sshd. */
export function podsOfMpiJob(objects: Any[], hostFile: string) {
  const { metadata, spec } = find(objects, 'MPIJob');
  const { Launcher, Worker } = spec.mpiReplicaSpecs;
  const [container] = Launcher.template.spec.containers;
  const workers = Array.from({ length: Worker.replicas }, (_, index) => {
    const hostname = `${metadata.name}-worker-${index}`;
    return { hostname, name: nameOf(hostname, metadata.name) };
  });
  const launcher: Pod = {
    hostname: `${metadata.name}-launcher`,
    name: nameOf(`${metadata.name}-launcher`, metadata.name),
    env: {
      ...environment(objects, container),
      K_MPI_JOB_ROLE: 'launcher',
      OMPI_MCA_orte_keep_fqdn_hostnames: 'true',
      OMPI_MCA_orte_default_hostfile: hostFile,
      OMPI_MCA_plm_rsh_args: '-o ConnectionAttempts=10',
      OMPI_MCA_orte_set_default_slots: `${spec.slotsPerWorker}`,
    },
    command: container.command,
  };
  const hosts = workers.map(
    ({ hostname }) => `${hostname}.${metadata.name}.default.svc slots=${spec.slotsPerWorker}\n`,
  );
  return { launcher, workers, hostFile: hosts.join('') };
}
