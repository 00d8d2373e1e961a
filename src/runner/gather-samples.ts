import type { World } from '../world/world.js';

/** What rank 0 holds of one exchange, in samples of all ranks. */
const mostAtOnce = 4 << 20;

/**
 * Every rank's samples of every turn on rank 0, by rank and turn; undefined elsewhere. They go in pieces, because a value
 * between ranks is limited and millions of iterations are not. Each turn has `perTurn` samples on every rank that has any.
 */
export async function gatherSamples(
  world: Pick<World, 'size' | 'gather'>,
  own: readonly Float64Array[],
  perTurn: number,
  most: number = mostAtOnce,
): Promise<Float64Array[][] | undefined> {
  const flat = new Float64Array(own.reduce((sum, turn) => sum + turn.length, 0));
  let at = 0;
  for (const turn of own) {
    flat.set(turn, at);
    at += turn.length;
  }
  const piece = Math.max(1, Math.floor(most / world.size));
  const ofRanks: Float64Array[] = [];
  for (let from = 0; from < own.length * perTurn; from += piece) {
    const all = await world.gather('samples', flat.slice(from, from + piece));
    all?.forEach((values, rank) => {
      ofRanks[rank] ??= new Float64Array(values.length > 0 ? own.length * perTurn : 0);
      if (values.length > 0) ofRanks[rank].set(values, from);
    });
  }
  if (ofRanks.length === 0) return undefined;
  return ofRanks.map((values) =>
    own.map((_, turn) => values.subarray(turn * perTurn, (turn + 1) * perTurn)),
  );
}
