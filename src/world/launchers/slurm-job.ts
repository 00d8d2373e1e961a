import { spawn } from 'node:child_process';
import type { Environment } from '../identity.js';

/** Long enough for a loaded controller, and well within the time that a site gives a job to end. */
const askMs = 3000;

/** How often Slurm has started this job again. */
export const restartsOf = (env: Environment): number => Number(env.SLURM_RESTART_COUNT ?? 0) || 0;

/**
 * Why Slurm ends this job, as far as its controller says. Undefined where it says nothing, and where the job goes on:
 * then the signal was meant for this process or step alone.
 */
export async function whySlurmEnds(env: Environment = process.env): Promise<string | undefined> {
  const job = env.SLURM_JOB_ID;
  if (job === undefined) return undefined;
  const shown = await ask('scontrol', ['-o', 'show', 'job', job]);
  if (shown === undefined) return undefined;
  const why = reasonOf(shown, restartsOf(env));
  return why && `Slurm job ${job} ${why}`;
}

/** What `scontrol show job` says of a job that is told to end. */
export function reasonOf(shown: string, restarts: number): string | undefined {
  const field = (name: string) => new RegExp(`(?:^|\\s)${name}=(\\S*)`).exec(shown)?.[1] ?? '';
  const state = field('JobState');
  if (field('Reason') === 'TimeLimit' || state === 'TIMEOUT') {
    return `reached its time limit (${field('TimeLimit')})`;
  }
  if (field('Reason') === 'NodeDown' || state === 'NODE_FAIL') return 'lost a node';
  if (state === 'PREEMPTED' || !/^(None)?$/.test(field('PreemptTime'))) return 'was preempted';
  if (Number(field('Restarts')) > restarts) return 'was requeued';
  if (/^(COMPLETING|CANCELLED)/.test(state)) return 'was cancelled';
  return undefined;
}

function ask(command: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    // In a session of its own: Slurm signals the process group of a task again, and would end the question with it.
    const child = spawn(command, args, {
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: askMs,
    });
    let said = '';
    child.stdout.on('data', (bytes) => {
      said += bytes;
    });
    child.on('error', () => resolve(undefined)); // not installed here
    child.on('close', (code) => resolve(code === 0 ? said : undefined));
  });
}
