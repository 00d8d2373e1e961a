import { resolve } from 'node:path';
import { WeftError } from '../../errors.js';
import { maxWorld } from '../../plan/plan.js';
import {
  choice,
  duration,
  onOff,
  option,
  sizeAboveZero,
  text,
  type ValueKind,
  type ValuesOf,
  wholeNumber,
} from '../../settings/option.js';

const count = wholeNumber(1, maxWorld);

/** `A=1,B=2`. */
const pairs = <T>(what: string, read: (value: string) => T): ValueKind<Record<string, T>> => ({
  parse: (list) =>
    Object.fromEntries(
      list.split(',').map((pair) => {
        const [, key, value] = /^([^=\s]+)=(\S+)$/.exec(pair.trim()) ?? [];
        if (key === undefined) throw new Error(`It must be ${what} separated by commas.`);
        return [key, read(value!)];
      }),
    ),
  inFile: 'list',
});

const matching = (pattern: RegExp, message: string): ValueKind<string> => ({
  parse: (value) => {
    if (pattern.test(value)) return value;
    throw new Error(message);
  },
  inFile: 'text',
});

/** For lines of `#SBATCH`: a line break would end the comment, and bash would run the rest. */
const oneLine = matching(/^\P{Cc}*$/u, 'It must not contain line breaks or control characters.');
const folderPath = { ...oneLine, parse: (path: string) => oneLine.parse(resolve(path)) };

/** Names of pods and Services derive from it: it leaves room for a suffix. */
const dnsName = matching(
  /^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$/,
  'Start with a lower-case letter; use only lower-case letters, digits and dashes, at most 40.',
);
const namespaceName = matching(
  /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/,
  'Use only lower-case letters, digits and dashes, at most 63.',
);

const absolutePath = (path: string): string => {
  if (path.startsWith('/')) return path;
  throw new Error('A folder of the host must be an absolute path: host:/PATH.');
};

export type Volume = { readonly claim: string } | { readonly path: string } | 'empty';

const volume: ValueKind<Volume> = {
  parse: (value) => {
    const [, kind, where = ''] = /^(?:(pvc|host):)?(.+)$/.exec(value) ?? [];
    if (kind === 'pvc') return { claim: where };
    if (kind === 'host') return { path: absolutePath(where) };
    if (value === 'empty') return 'empty';
    throw new Error('It must be pvc:NAME, host:/PATH or empty.');
  },
  format: (value) =>
    value === 'empty' ? value : 'claim' in value ? `pvc:${value.claim}` : `host:${value.path}`,
  inFile: 'text',
};

const hugePage = 2 * 2 ** 20;
const hugePages: ValueKind<number> = {
  ...sizeAboveZero,
  parse: (value) => {
    const bytes = sizeAboveZero.parse(value);
    if (bytes % hugePage === 0) return bytes;
    throw new Error('It must be a multiple of 2M.');
  },
};

/** Options of both schedulers. */
const jobOptions = {
  nodes: option({ flags: '--nodes <count>', help: 'number of nodes (required)', kind: count }),
  ranksPerNode: option({
    flags: '--ranks-per-node <count>',
    help: 'ranks per node',
    kind: count,
    default: 1,
  }),
  gpusPerNode: option({
    flags: '--gpus-per-node <count>',
    help: 'GPUs per node',
    kind: wholeNumber(1),
    defaultText: 'none',
  }),
  timeMs: option({
    flags: '--time <time>',
    help: 'stop the job after this time, e.g. 30m',
    kind: duration,
  }),
};

export const sbatchOptions = {
  ...jobOptions,
  name: option({ flags: '--name <name>', help: 'job name', kind: oneLine, default: 'weft' }),
  partition: option({ flags: '--partition <name>', help: 'Slurm partition', kind: oneLine }),
  account: option({ flags: '--account <name>', help: 'Slurm account', kind: oneLine }),
  folder: option({
    flags: '--folder <folder>',
    help: 'shared folder for results and output',
    kind: folderPath,
  }),
  image: option({
    flags: '--container-image <image>',
    help: 'run in this container (needs pyxis)',
    kind: text,
  }),
  mounts: option({
    flags: '--container-mounts <list>',
    help: 'folders to mount in it, e.g. /fsx:/fsx',
    kind: text,
  }),
  efa: onOff('--efa', 'use EFA only; fail on nodes without it'),
  weft: option({
    flags: '--weft <path>',
    help: 'path of weft on the nodes',
    kind: text,
    defaultText: 'this one',
  }),
  submit: onOff('--submit', 'submit the script instead of printing it'),
  format: option({
    flags: '--format <format>',
    help: 'output format: script, json',
    kind: choice(['script', 'json']),
    default: 'script',
  }),
};
export type SbatchOptions = ValuesOf<typeof sbatchOptions>;

export const k8sOptions = {
  ...jobOptions,
  kind: option({
    flags: '--kind <kind>',
    help: 'kind of job: job, jobset, mpijob',
    kind: choice(['job', 'jobset', 'mpijob']),
    default: 'job',
  }),
  image: option({ flags: '--image <image>', help: 'container image (required)', kind: text }),
  name: option({ flags: '--name <name>', help: 'job name', kind: dnsName, default: 'weft' }),
  namespace: option({
    flags: '--namespace <name>',
    help: 'Kubernetes namespace',
    kind: namespaceName,
  }),
  efa: option({ flags: '--efa <count>', help: 'EFA devices per pod', kind: wholeNumber(1) }),
  resources: option({
    flags: '--resources <list>',
    help: 'other devices per pod, e.g. rdma/hca=1',
    kind: pairs('NAME=COUNT', (value) => wholeNumber(1).parse(value)),
  }),
  hugePageBytes: option({
    flags: '--huge-pages <size>',
    help: 'huge pages (2 MiB) per pod, e.g. 5G',
    kind: hugePages,
  }),
  memoryBytes: option({
    flags: '--memory <size>',
    help: 'memory limit per pod',
    kind: sizeAboveZero,
    defaultText: 'none',
  }),
  shmBytes: option({
    flags: '--shm <size>',
    help: 'size of /dev/shm',
    kind: sizeAboveZero,
    default: 8 * 2 ** 30,
  }),
  results: option({
    flags: '--results <volume>',
    help: 'results: pvc:NAME, host:/PATH, empty',
    kind: volume,
    default: 'empty',
  }),
  nodeSelector: option({
    flags: '--node-selector <labels>',
    help: 'labels of the nodes to use: KEY=VALUE[,…]',
    kind: pairs('KEY=VALUE', (value) => value),
  }),
  hostNetwork: onOff('--host-network', 'use the network of the nodes'),
  joinMs: option({
    flags: '--join-timeout <time>',
    help: 'wait this long for all pods to start',
    kind: duration,
    default: 600_000,
  }),
  format: option({
    flags: '--format <format>',
    help: 'output format: yaml, json',
    kind: choice(['yaml', 'json']),
    default: 'yaml',
  }),
};
export type K8sOptions = ValuesOf<typeof k8sOptions>;

/** The options without which there is no job, as they are then always there. */
export function required<O extends object, K extends keyof O & string>(
  options: O,
  keys: Readonly<Record<K, string>>,
): O & Required<Pick<O, K>> {
  for (const [key, flag] of Object.entries<string>(keys)) {
    if (options[key as K] === undefined) {
      throw new WeftError('BAD_USAGE', `${flag} is missing`, {
        hint: 'Add it, or run the command with --help to list its options.',
      });
    }
  }
  return options as O & Required<Pick<O, K>>;
}

/** Refuses worlds that are too large for Weft. */
export function refuseTooManyRanks(nodes: number, ranksPerNode: number): void {
  if (nodes * ranksPerNode <= maxWorld) return;
  throw new WeftError(
    'BAD_USAGE',
    `${nodes} nodes × ${ranksPerNode} ranks are more than the ${maxWorld} ranks Weft supports`,
  );
}
