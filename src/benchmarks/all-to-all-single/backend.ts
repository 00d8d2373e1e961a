import { type ErrorCode, isWeftError, messageOf, WeftError } from '../../errors.js';
import type { World } from '../../world/world.js';
import type { Tensors } from './contents.js';
import type { Exchange } from './exchange.js';

export const backendIds = ['fabric', 'gloo', 'mpi', 'nccl'] as const;
export type BackendId = (typeof backendIds)[number];

/** Something that carries out the exchange. Every rank makes the same calls in the same order. */
export interface Backend {
  readonly id: BackendId;
  readonly version: string;
  /**
   * One exchange from the input to the output tensor, a rank's own block included. All ranks meet before it and after
   * it; this rank's nanoseconds are those in between.
   */
  exchange(): Promise<number>;
  close(): Promise<void>;
}

export interface BackendJob {
  readonly world: World;
  readonly exchange: Exchange;
  readonly tensors: Tensors;
  readonly timeoutMs: number;
  /** The interfaces asked for, best first; empty where none was. */
  readonly interfaces: readonly string[];
  /** They were named by `--iface`, which comes before the libraries' own variables. */
  readonly ifaceGiven: boolean;
  /** CUDA's numbers of the GPUs that the ranks of a host take in turn; default: all. */
  readonly gpus: readonly number[] | undefined;
}

/** Thrown where a backend cannot run here: the row is skipped, and this is why and what to do. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
}

/** What `get` returns; undefined where it says that a backend cannot run here. */
export function ifAvailable<T>(get: () => T): T | undefined {
  try {
    return get();
  } catch (error) {
    if (error instanceof Unavailable) return undefined;
    throw error;
  }
}

/** Does `step`; its error of this kind (default: any of Weft's) means that a backend cannot run here. */
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
 * Does a local step of opening a backend on every rank, and lets all know how it went: where one rank cannot, none
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
