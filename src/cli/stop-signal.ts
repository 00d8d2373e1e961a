import { setTimeout as sleep } from 'node:timers/promises';
import { WeftError } from '../errors.js';
import type { World } from '../world/index.js';
import { jobStoppedBy } from '../world/launch/rank-process.js';
import { whySlurmEnds } from '../world/launchers/slurm-job.js';

/** Longer than rank 0 takes to ask Slurm, also on a busy host. */
const rankZeroAsksMs = 6000;

/** A parent that got the same signal says so at once. */
const parentSaysMs = 500;

/**
 * A rank was told to end: all ranks learn of it, with Slurm's reason where Slurm ends the job. Where the whole job was
 * told, no rank is blamed.
 */
export async function failStopped(world: World, signal: NodeJS.Signals): Promise<void> {
  let why: string | undefined;
  const inSlurm = signal === 'SIGTERM' && process.env.SLURM_JOB_ID !== undefined;
  // Slurm signals all ranks, and again while the job ends; so does the parent of local ranks, whose process group may
  // have had the signal before. Only SIGKILL, which both send in the end, is meant literally.
  if (inSlurm || world.launcher === 'local') process.on('SIGTERM', () => {});
  const ofJob = await jobStoppedBy(parentSaysMs);
  if (ofJob !== undefined) {
    const stopped = new WeftError('ABORTED', `the job was stopped by ${ofJob}`);
    return void (await world.fail(stopped, { blames: 'nobody' }));
  }
  // The parent of local ranks kills them after 2 s: they do not ask.
  if (inSlurm && world.launcher !== 'local') {
    // One rank asks for all: the first to fail is the one whose reason is kept.
    if (world.rank === 0) why = await whySlurmEnds();
    else await sleep(rankZeroAsksMs, undefined, { signal: world.signal }).catch(() => {});
  }
  const who = `rank ${world.rank} was stopped by ${signal}`;
  await world.fail(new WeftError('ABORTED', why === undefined ? who : `${who}: ${why}`));
}
