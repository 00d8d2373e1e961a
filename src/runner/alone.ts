import { setTimeout as sleep } from 'node:timers/promises';
import type { World } from '../world/world.js';

/**
 * Rank 0 works alone while the others wait for it. They hear that it is still at work, so that a row that takes longer
 * than the time-out does not end the job. The others get undefined.
 */
export async function rankZeroAlone<T>(
  world: Pick<World, 'rank' | 'broadcast'>,
  timeoutMs: number,
  work: () => Promise<T>,
): Promise<T | undefined> {
  const tell = (atWork: boolean) => world.broadcast('rank 0 at work', atWork);
  if (world.rank !== 0) {
    while (await tell(true));
    return undefined;
  }
  const over = new AbortController();
  const working = work().finally(() => over.abort());
  // It may fail while the others are told; awaited below.
  working.catch(() => {});
  for (;;) {
    await sleep(timeoutMs / 4, undefined, { signal: over.signal }).catch(() => {});
    if (over.signal.aborted) break;
    await tell(true);
  }
  const result = await working;
  await tell(false);
  return result;
}
