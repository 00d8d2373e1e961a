import type { WeftError } from '../errors.js';
import type { World } from '../world/world.js';
import type { GapPolicy } from './fabric-wish.js';

/** What every rank knows, rank 0 alone says: the others learn of its failure, which ends their barrier. */
export async function refuseTogether(
  world: World,
  error: WeftError,
  gaps?: GapPolicy,
): Promise<never> {
  if (world.rank !== 0 || gaps === 'everyone') await world.barrier('refused');
  throw error;
}
