import { createHash } from 'node:crypto';
import { WeftError } from '../errors.js';
import { groupBy } from '../measure/group.js';
import { plural } from '../measure/units.js';
import { refuseTogether } from '../session/refuse-together.js';
import type { World } from '../world/world.js';
import { isPlanned } from './benchmark.js';
import type { Job } from './job.js';

/** Ranks whose plans are made from different files would wait for each other for ever. Resolves with what is recorded. */
export async function agreedInput({ benchmark, ...asked }: Job, world: World) {
  if (!isPlanned(benchmark) || !benchmark.inputHash) return {};
  const inputHash = benchmark.inputHash(asked, world.size);
  const all = await world.allgather('input', inputHash);
  const error = differenceOf(all, world, 'file');
  return error ? refuseTogether(world, error) : { inputHash };
}

/** Ranks with different lists of jobs would wait for each other until time is up. */
export async function agreeOnJobs(jobs: readonly Job[], world: World): Promise<void> {
  const list = jobs.map(({ benchmark, settings, options }) => [benchmark.id, settings, options]);
  const hash = createHash('sha256').update(JSON.stringify(list)).digest('hex');
  const error = differenceOf(await world.allgather('jobs', hash), world, 'suite file');
  if (error) await refuseTogether(world, error);
}

/** What most ranks have is right; of as many, what the first rank has. */
function differenceOf(
  values: readonly string[],
  { hosts }: World,
  what: string,
): WeftError | undefined {
  const groups = groupBy(values.keys(), (rank) => values[rank]!);
  const [usual, ...others] = [...groups.values()].sort((a, b) => b.length - a.length);
  const [odd, ...more] = others.flat().map((rank) => `rank ${rank} (${hosts[rank]})`);
  if (!usual || odd === undefined) return undefined;
  const who =
    more.length === 0 ? `${odd} reads` : `${odd} and ${plural(more.length, 'more rank')} read`;
  const most = `rank ${usual[0]} (${hosts[usual[0]!]})`;
  return new WeftError('BAD_USAGE', `${who} another ${what} than ${most}`, {
    hint: 'Copy the same file to every host, or use a shared file system.',
  });
}
