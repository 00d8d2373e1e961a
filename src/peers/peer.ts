import { type ErrorCode, isWeftError, messageOf, WeftError } from '../errors.js';
import type { HostBuffer } from '../memory/buffer.js';
import type { Collective } from '../plan/collective.js';
import type { PeerId } from '../settings/table.js';
import type { World } from '../world/world.js';

/** A library that carries out collectives, opened. Every rank makes the same calls in the same order. */
export interface Peer {
  readonly id: PeerId;
  readonly version: string;
  /** Where its tensors are. */
  readonly memory: 'pinned' | 'device';
  /**
   * All ranks meet, then carry out the collective `iterations` times in a row from the input to the output, then meet
   * again. This rank's nanoseconds of each batch; the batch (default: all iterations) divides the iterations.
   */
  run(collective: Collective, count: PeerCount): Promise<Float64Array>;
  close(): Promise<void>;
}

interface PeerCount {
  readonly iterations: number;
  readonly batch?: number;
}

/** What a rank sends from and receives into. */
export interface PeerBuffers {
  readonly input: HostBuffer;
  readonly output: HostBuffer;
}

/** What a library is opened for. */
export interface PeerJob {
  readonly world: World;
  readonly buffers: PeerBuffers;
  readonly timeoutMs: number;
  /** The interfaces asked for, best first; empty where none was. */
  readonly interfaces: readonly string[];
  /** They were named by `--iface`, which comes before the libraries' own variables. */
  readonly ifaceGiven: boolean;
  /** CUDA's numbers of the GPUs that the ranks of a host take in turn; default: all. */
  readonly gpus: readonly number[] | undefined;
}

/** Thrown where a library cannot run here: its row is skipped, and this is why and what to do. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
}

/** What `get` returns; undefined where it says that a library cannot run here. */
export function ifAvailable<T>(get: () => T): T | undefined {
  try {
    return get();
  } catch (error) {
    if (error instanceof Unavailable) return undefined;
    throw error;
  }
}

/** Does `step`; its error of this kind (default: any of Weft's) means that a library cannot run here. */
export async function orUnavailable<T>(
  code: ErrorCode | undefined,
  step: () => T | Promise<T>,
): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (!isWeftError(error, code)) throw error;
    throw new Unavailable([error.message, error.hint].filter(Boolean).join('. '));
  }
}

interface Part<T> {
  readonly value?: T;
  readonly outcome: 'done' | 'unavailable' | 'failed';
  readonly reason?: string;
  readonly hint?: string | undefined;
}

/**
 * Does a local step of opening a library on every rank, and lets all know how it went: where one rank cannot, none
 * goes on. Rejects on every rank with the first rank's reason.
 */
export async function together<T>(
  world: World,
  name: string,
  step: () => T | Promise<T>,
): Promise<T[]> {
  let mine: Part<T>;
  try {
    mine = { outcome: 'done', value: await step() };
  } catch (error) {
    if (world.signal.aborted) throw error;
    mine = {
      outcome: error instanceof Unavailable ? 'unavailable' : 'failed',
      reason: messageOf(error),
      ...(error instanceof WeftError && { hint: error.hint }),
    };
  }
  const all = await world.allgather(name, mine);
  const first = all.findIndex(({ outcome }) => outcome !== 'done');
  if (first < 0) return all.map(({ value }) => value as T);
  const { outcome, reason = 'no reason given', hint } = all[first]!;
  const everyone = all.every((one) => one.outcome === outcome && one.reason === reason);
  const where = everyone ? '' : `rank ${first} on ${world.hosts[first]}: `;
  if (outcome === 'unavailable') throw new Unavailable(`${where}${reason}`);
  throw new WeftError('PEER_LIBRARY', `${where}${reason}`, hint === undefined ? {} : { hint });
}
