import type { Landing } from '../../gpu/ipc.js';

const tries = 5;
/** How often the memory is set, at most: a try on a GPU sets it 20 times. */
export const memsetPasses = tries * 20;

/** The peak of a size is one for all its rows: the shortest of several. */
export async function bestMemset(
  landing: Landing | undefined,
  bytes: number,
): Promise<number | undefined> {
  if (landing === undefined) return undefined;
  let best = Number.POSITIVE_INFINITY;
  for (let i = 0; i < tries; i++) best = Math.min(best, await landing.memsetNanoseconds(bytes));
  return best;
}
