import { setTimeout as sleep } from 'node:timers/promises';
import type { Fabric } from '../fabric/fabric.js';
import type { World } from '../world/world.js';

/** Longer than the news of a failure takes to reach the other ranks of this host, also when its cores are busy. */
const newsMs = 300;

/**
 * Closes the endpoints. shm of libfabric 1.17 crashes in a rank that hears for the first time from a peer whose memory
 * is gone already, and what it had locked stays locked for the others. Ranks of a failed job stop at different times:
 * their memory stays until all of them have.
 */
export async function leaveFabric({ signal }: World, fabric: Fabric): Promise<void> {
  if (signal.aborted && (fabric.provider === 'shm' || fabric.localShm?.allowed)) {
    fabric.port.stop();
    await sleep(newsMs);
  }
  await fabric.close();
}
