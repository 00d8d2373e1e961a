import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Environment } from '../identity.js';

/** Long enough for a loaded controller, and well within the time that a site gives a job to end. */
const askMs = 4000;
const mostQuestions = 3;
const betweenMs = 250;

/** How often Slurm has started this job again. */
export const restartsOf = (env: Environment): number => Number(env.SLURM_RESTART_COUNT ?? 0) || 0;

/**
 * Why Slurm ends this job, as far as its controller says. Undefined where it says nothing, and where the job goes on:
 * then the signal was meant for this process or step alone.
 */
export async function whySlurmEnds(env: Environment = process.env): Promise<string | undefined> {
  const job = env.SLURM_JOB_ID;
  if (job === undefined) return undefined;
  const deadline = performance.now() + askMs;
  // A controller under load may not know yet, or not answer at once.
  for (let asked = 0; asked < mostQuestions; asked++) {
    if (asked > 0) await sleep(betweenMs);
    const shown = await ask('scontrol', ['-o', 'show', 'job', job], deadline - performance.now());
    const why = shown && reasonOf(shown, restartsOf(env));
    if (why) return `Slurm job ${job} ${why}`;
    if (performance.now() + betweenMs > deadline) break;
  }
  return undefined;
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

/** Slurm signals the processes of a task again, and would end the question with them: it ignores that. */
const deafTo = 'trap "" TERM; exec "$@"';

function ask(
  command: string,
  args: readonly string[],
  withinMs: number,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn('sh', ['-c', deafTo, 'sh', command, ...args], {
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: Math.max(1, Math.ceil(withinMs)),
      killSignal: 'SIGKILL',
    });
    let said = '';
    child.stdout.on('data', (bytes) => {
      said += bytes;
    });
    child.on('error', () => resolve(undefined)); // not installed here
    child.on('close', (code) => resolve(code === 0 ? said : undefined));
  });
}
