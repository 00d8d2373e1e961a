import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import type { Command } from 'commander';
import { WeftError } from '../errors.js';
import { type BatchJob, batchScript } from './job-files/batch-script.js';
import { refuseTooManyRanks, required, sbatchOptions } from './job-files/options.js';
import { weftCommand } from './job-files/weft-command.js';
import { addOptions, readOptions } from './options.js';
import { printOut } from './output/print.js';
import { ownCommand } from './own-command.js';

/** `weft sbatch --nodes N -- COMMAND …`: a batch script, printed or submitted. */
export function addSbatchCommand(program: Command): void {
  const command = program
    .command('sbatch')
    .summary('Print or submit a Slurm batch script.')
    .description('Print a Slurm batch script that runs a weft command, or submit it.')
    .argument('<command...>', 'weft command and options, e.g. -- all2all -b 16M')
    .usage('--nodes <n> [options] -- <command> [its options]')
    .passThroughOptions();
  addOptions(command, sbatchOptions).action((words: string[], raw: unknown) => {
    const options = required(readOptions(raw, sbatchOptions), { nodes: '--nodes' });
    const { nodes, ranksPerNode, image, weft, submit, format } = options;
    refuseTooManyRanks(nodes, ranksPerNode);
    refuseMounts(options);
    const found = image === undefined ? ownCommand() : ['weft'];
    const job: BatchJob = { ...options, weft: weft === undefined ? found : [weft] };
    const script = batchScript(job, weftCommand(words, program));
    const jobId = submit ? submitted(script, options.folder) : undefined;
    printOut(shown(script, jobId, format));
  });
}

function refuseMounts({ image, mounts }: { image?: string; mounts?: string }): void {
  if (mounts === undefined || image !== undefined) return;
  throw new WeftError('BAD_USAGE', '--container-mounts has no effect without --container-image');
}

function shown(script: string, jobId: string | undefined, format: 'script' | 'json'): string {
  if (format === 'json') {
    return `${JSON.stringify({ schema: 'weft.sbatch/1', script, jobId }, null, 2)}\n`;
  }
  return jobId === undefined ? script : `Submitted job ${jobId}.\n`;
}

/** Hands the script to sbatch; the id of the job. */
function submitted(script: string, folder: string | undefined): string {
  if (folder !== undefined) mkdirSync(folder, { recursive: true });
  const { error, status, stdout, stderr } = spawnSync('sbatch', ['--parsable'], {
    input: script,
    encoding: 'utf8',
  });
  if (error) {
    throw new WeftError('UNSUPPORTED', `sbatch cannot be started: ${error.message}`, {
      hint: 'Submit from a login node of the cluster, or leave out --submit and copy the script.',
      cause: error,
    });
  }
  if (status !== 0) {
    throw new WeftError('BAD_USAGE', `sbatch refused the script: ${stderr.trim()}`, {
      hint: 'Print the script without --submit to see what it asks for.',
    });
  }
  // With several clusters it says JOB;CLUSTER.
  return stdout.trim().split(';')[0]!;
}
