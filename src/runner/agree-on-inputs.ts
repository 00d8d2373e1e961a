import { WeftError } from '../errors.js';
import { refuseTogether } from '../session/refuse-together.js';
import type { World } from '../world/world.js';
import { isPlanned } from './benchmark.js';
import type { Job } from './job.js';

/** Ranks whose plans are made from different files would wait for each other for ever. Resolves with what is recorded. */
export async function agreedInput({ benchmark, ...asked }: Job, world: World) {
  if (!isPlanned(benchmark) || !benchmark.inputHash) return {};
  const inputHash = benchmark.inputHash(asked, world.size);
  const all = await world.allgather('input', inputHash);
  const other = all.findIndex((one) => one !== all[0]);
  if (other < 0) return { inputHash };
  const [first, second] = [0, other].map((rank) => `rank ${rank} (${world.hosts[rank]})`);
  return refuseTogether(
    world,
    new WeftError('BAD_USAGE', `${first} and ${second} read different files`, {
      hint: 'Copy the same file to every host, or use a shared file system.',
    }),
  );
}
