import { WeftError } from '../errors.js';
import type { World } from '../world/world.js';
import type { PlanJob } from './job.js';

/** Ranks that read different files would wait for each other for ever: all must have read the same. */
export async function agreeOnInputs(job: PlanJob, world: World): Promise<void> {
  const own = job.benchmark.inputs?.(job);
  if (own === undefined) return;
  const all = await world.allgather('inputs', own);
  const other = all.findIndex((one) => one !== all[0]);
  if (other < 0) return;
  const [first, second] = [0, other].map((rank) => `rank ${rank} (${world.hosts[rank]})`);
  throw new WeftError('BAD_USAGE', `${first} and ${second} read different files`, {
    hint: 'Copy the same file to every host, or use a shared file system.',
  });
}
