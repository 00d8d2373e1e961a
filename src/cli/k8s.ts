import type { Command } from 'commander';
import { Document } from 'yaml';
import { randomToken } from '../world/index.js';
import { manifest } from './job-files/manifest.js';
import { k8sOptions, refuseTooManyRanks, required } from './job-files/options.js';
import type { Json, PodJob } from './job-files/pod.js';
import { weftCommand } from './job-files/weft-command.js';
import { addOptions, readOptions } from './options.js';
import { printOut } from './output/print.js';

/** `weft k8s --nodes N --image IMAGE -- COMMAND …`: a manifest for kubectl. */
export function addK8sCommand(program: Command): void {
  const command = program
    .command('k8s')
    .summary('Print a Kubernetes manifest.')
    .description('Print a Kubernetes manifest that runs a weft command in pods.')
    .argument('<command...>', 'weft command and options, e.g. -- all2all -b 16M')
    .usage('--nodes <n> --image <image> [options] -- <command> [its options]')
    .passThroughOptions();
  addOptions(command, k8sOptions).action((words: string[], raw: unknown) => {
    const flags = { nodes: '--nodes', image: '--image' } as const;
    const job: PodJob = required(readOptions(raw, k8sOptions), flags);
    refuseTooManyRanks(job.nodes, job.ranksPerNode);
    const objects = manifest(job, weftCommand(words, program), randomToken());
    printOut(job.format === 'json' ? asList(objects) : asYaml(objects, job));
  });
}

/** `kubectl apply -f` takes a list as well. */
const asList = (items: readonly Json[]): string =>
  `${JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, null, 2)}\n`;

function asYaml(objects: readonly Json[], job: PodJob): string {
  return objects
    .map((object) => {
      const document = new Document(object);
      const comment = commentOn(object, job);
      if (comment !== undefined)
        document.commentBefore = comment.map((line) => ` ${line}`).join('\n');
      return document.toString({ lineWidth: 0 });
    })
    .join('---\n');
}

function commentOn({ kind }: Json, job: PodJob): string[] | undefined {
  if (kind === 'Secret') {
    return [
      'A random token, generated when this file was printed. Ranks prove with it that they belong to',
      'this job. Whoever can read this file or the Secret can join the job while it runs.',
    ];
  }
  if (kind === 'Service') return undefined;
  return ['See the results with:', `  kubectl logs -f --tail=-1 ${selector(job)}`, ...noteOn(job)];
}

const noteOn = ({ results }: PodJob): string[] =>
  results === 'empty'
    ? ['Run files are lost with the pod: keep them with --results pvc:NAME or host:/PATH.']
    : [];

/** The pod that prints: rank 0's, or mpirun's. */
function selector({ name, namespace, kind }: PodJob): string {
  const which =
    kind === 'mpijob'
      ? 'app.kubernetes.io/component=launcher'
      : 'batch.kubernetes.io/job-completion-index=0';
  const where = namespace === undefined ? '' : `-n ${namespace} `;
  return `${where}-l app.kubernetes.io/instance=${name},${which}`;
}
