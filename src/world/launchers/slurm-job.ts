import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Environment } from '../identity.js';

const execute = promisify(execFile);

/** Long enough for a loaded controller, and well within the time that a site gives a job to end. */
const askMs = 1500;

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
  if (why !== 'was cancelled') return why && `Slurm job ${job} ${why}`;
  // The controller tells a failed node from scancel only when the job is gone.
  const nodes = await ask('scontrol', ['-o', 'show', 'node', env.SLURM_JOB_NODELIST ?? '']);
  const down = downNodes(nodes ?? '').join(', ');
  return `Slurm job ${job} ${down === '' ? why : `lost a node: ${down} is down`}`;
}

/** In what `scontrol show node` says: a node that is drained besides is down as well. */
export const downNodes = (shown: string): string[] =>
  shown
    .split('\n')
    .filter((line) => /\sState=\S*DOWN/.test(line))
    .flatMap((line) => /^NodeName=(\S+)/.exec(line)?.[1] ?? []);

/** What `scontrol show job` says of a job that is told to end. */
export function reasonOf(shown: string, restarts: number): string | undefined {
  const field = (name: string) => new RegExp(`(?:^|\\s)${name}=(\\S*)`).exec(shown)?.[1] ?? '';
  const state = field('JobState');
  if (field('Reason') === 'TimeLimit' || state === 'TIMEOUT') {
    return `reached its time limit (${field('TimeLimit')})`;
  }
  if (state === 'PREEMPTED' || !/^(None)?$/.test(field('PreemptTime'))) return 'was preempted';
  if (Number(field('Restarts')) > restarts) return 'was requeued';
  if (/^(COMPLETING|CANCELLED|NODE_FAIL)/.test(state)) return 'was cancelled';
  return undefined;
}

async function ask(command: string, args: readonly string[]): Promise<string | undefined> {
  try {
    return (await execute(command, args, { timeout: askMs })).stdout;
  } catch {
    return undefined; // not installed here, or the controller does not answer
  }
}
