import type { WeftError } from '../errors.js';
import type { World } from '../world/world.js';

/** What every rank knows, rank 0 alone says: the others learn of its failure, which ends their barrier. */
export async function refuseTogether(world: World, error: WeftError): Promise<never> {
  if (world.rank !== 0) await world.barrier('refused');
  throw error;
}
