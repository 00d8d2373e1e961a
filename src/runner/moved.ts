import { createHash } from 'node:crypto';
import { nativeOf } from '../peers/open-peer.js';
import type { Collective } from '../plan/collective.js';
import type { Plan } from '../plan/plan.js';
import type { World } from '../world/world.js';

/** What a rank sends to each rank and gets from each in one iteration, in bytes. */
interface Moved {
  readonly sent: readonly number[];
  readonly received: readonly number[];
}

/** As the steps of a rank's plan say it. */
function movedBy({ world, steps }: Plan): Moved {
  const sent = new Array<number>(world).fill(0);
  const received = new Array<number>(world).fill(0);
  for (const step of steps) {
    if (step.kind === 'wait') received[step.source]! += step.bytes;
    if (step.kind !== 'post') continue;
    const arrives = step.op === 'recv' || step.op === 'read';
    (arrives ? received : sent)[step.peer]! += step.local.bytes;
  }
  return { sent, received };
}

/** As the counts say that the addon hands to a library; undefined where it is given no counts. */
function givenTo(collective: Collective, rank: number): Moved | undefined {
  if (collective.kind !== 'alltoallv') return undefined;
  const { sendBytes, receiveBytes } = nativeOf(collective, rank);
  return { sent: [...sendBytes], received: [...receiveBytes] };
}

/** Of what all ranks move, by rank: equal hashes, equal bytes between the same ranks. */
function hashOfMoved(all: readonly Moved[]): string {
  const hash = createHash('sha256');
  for (const { sent, received } of all) hash.update(`${sent.join()};${received.join()}\n`);
  return hash.digest('hex').slice(0, 12);
}

/**
 * On rank 0, where a library is given counts: what it and these plans of Weft's move between all ranks. Every rank calls
 * it, with its own plans.
 */
export async function hashesOfMoved(
  world: Pick<World, 'rank' | 'gather'>,
  plans: readonly Plan[],
  collective: Collective,
): Promise<{ ours: string[]; theirs: string } | undefined> {
  const given = givenTo(collective, world.rank);
  if (!given) return undefined;
  const own = [given, ...plans.map(movedBy)];
  const all = await world.gather('moved', own);
  if (!all) return undefined;
  const [theirs, ...ours] = own.map((_, i) => hashOfMoved(all.map((ofRank) => ofRank[i]!)));
  return { ours, theirs: theirs! };
}
