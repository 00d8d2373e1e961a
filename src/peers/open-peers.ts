import { isWeftError } from '../errors.js';
import type { Collective } from '../plan/collective.js';
import type { PeerId } from '../settings/table.js';
import { glooRefusal, openGloo } from './gloo.js';
import { mpiRefusal, openMpi } from './mpi.js';
import { openNccl } from './nccl.js';
import { type Peer, type PeerJob, Unavailable } from './peer.js';

/** Something that cannot run, or failed before it ran. */
export interface Missing<Id extends string = PeerId> {
  readonly id: Id;
  readonly outcome: 'skipped' | 'failed';
  readonly reason: string;
}

const openers = { gloo: openGloo, mpi: openMpi, nccl: openNccl } as const;

/** Why a library cannot carry out a collective, whatever the machine; undefined where it can. */
export function refusalOf(id: PeerId, collective: Collective, world: number): string | undefined {
  if (id === 'mpi') return mpiRefusal(collective, world);
  return id === 'gloo' ? glooRefusal(collective) : undefined;
}

/** Opens a library on every rank. What cannot run here is told, not thrown. */
export async function openPeerById(id: PeerId, job: PeerJob): Promise<Peer | Missing> {
  try {
    return await openers[id](job);
  } catch (error) {
    return missingFor(id, error);
  }
}

/** Why something could not be opened; what is not its own affair is thrown. */
export function missingFor<Id extends string>(id: Id, error: unknown): Missing<Id> {
  if (error instanceof Unavailable) return { id, outcome: 'skipped', reason: error.message };
  if (!isWeftError(error, 'PEER_LIBRARY')) throw error;
  return { id, outcome: 'failed', reason: [error.message, error.hint].filter(Boolean).join('. ') };
}
