import { seededRandom, shuffled } from '../../measure/seeded-random.js';
import type { Transfer } from './transfers.js';

/**
 * Everyone sends to one other rank and hears from one: a random permutation that leaves nobody at its place, every such
 * permutation as likely as any other. The same for the same seed and world.
 */
export function randomPermutation(world: number, seed: number, bytes: number): Transfer[] {
  if (world < 2) throw new TypeError('a permutation without fixed points needs 2 ranks');
  const random = seededRandom(seed);
  // One draw in e is without fixed points, whatever the world.
  for (;;) {
    const to = Array.from(shuffled(world, random));
    if (to.every((target, rank) => target !== rank)) {
      return to.map((target, from) => ({ from, to: target, bytes }));
    }
  }
}
