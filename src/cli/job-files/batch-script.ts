import { shellQuoted } from '../shell-words.js';
import type { SbatchOptions } from './options.js';

export type BatchJob = Omit<SbatchOptions, 'weft'> &
  Required<Pick<SbatchOptions, 'nodes'>> & {
    /** The words that start Weft on the nodes. */
    readonly weft: readonly string[];
  };

/** A script for sbatch that runs one command of Weft on all ranks of a job. */
export function batchScript(job: BatchJob, command: readonly string[]): string {
  const { folder } = job;
  const directives = directivesOf(job).map((words) => `#SBATCH ${words}`);
  const srun = ['srun', ...stepOptions(job), ...job.weft, ...command];
  return [
    '#!/bin/bash',
    ...directives,
    ...(folder === undefined
      ? []
      : ['# Slurm does not create this folder: it must exist when the job starts.']),
    '',
    'set -e',
    '# Ranks prove with a token of this job that they belong to it.',
    'export WEFT_TOKEN="$(od -An -vtx1 -N32 /dev/urandom | tr -d \' \\n\')"',
    ...(job.efa ? ['# Only EFA: a node without it fails instead of using TCP.', efaVariable] : []),
    '',
    '# Weft itself places each rank near its GPU and NICs.',
    srun.map(shellQuoted).join(' '),
    '',
  ].join('\n');
}

const efaVariable = 'export FI_PROVIDER=efa';

/** Limits are those of the nodes, not of the login host, where locked memory is usually scarce. */
function directivesOf(job: BatchJob): string[] {
  const { name, nodes, ranksPerNode, gpusPerNode, partition, account, timeMs, folder } = job;
  const values = {
    'job-name': name,
    nodes,
    'ntasks-per-node': ranksPerNode,
    'gpus-per-node': gpusPerNode,
    partition,
    account,
    time: timeMs === undefined ? undefined : slurmTime(timeMs),
    chdir: folder,
    output: folder === undefined ? undefined : `${folder}/%x-%j.out`,
    propagate: 'NONE',
  };
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return ['--exclusive', ...given.map(([key, value]) => `--${key}=${shellQuoted(String(value))}`)];
}

function stepOptions(job: BatchJob): string[] {
  const { gpusPerNode, image, mounts, folder } = job;
  const mounted = [mounts, folder && `${folder}:${folder}`].filter(Boolean).join(',');
  return [
    '--kill-on-bad-exit=1',
    '--cpu-bind=none',
    ...(gpusPerNode === undefined ? [] : ['--gpu-bind=none']),
    ...(image === undefined ? [] : [`--container-image=${image}`]),
    ...(image === undefined || mounted === '' ? [] : [`--container-mounts=${mounted}`]),
    ...(image === undefined || folder === undefined ? [] : [`--container-workdir=${folder}`]),
  ];
}

/** `HH:MM:SS`; hours may be more than 24. */
function slurmTime(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return parts.map((part) => String(part).padStart(2, '0')).join(':');
}
