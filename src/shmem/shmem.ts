import { setImmediate as turn } from 'node:timers/promises';
import { WeftError } from '../errors.js';
import type { Fabric } from '../fabric/fabric.js';
import type { FabricBuffer, RemoteRegion } from '../fabric/region.js';
import { exchangeRegions } from '../world/connect-fabric.js';
import type { World } from '../world/world.js';
import { Deliveries } from './deliveries.js';
import {
  byteRange,
  type NumberArray,
  type NumberArrayType,
  type PutRange,
  type Symmetric,
} from './symmetric.js';

/** The ranks, the fabric between them, and how much memory each gives. */
export interface ShmemOptions {
  readonly world: World;
  /** Connected to every rank of the world. */
  readonly fabric: Fabric;
  /** Of each rank's heap; the same on every rank. */
  readonly bytes: number;
}

/** How long to wait for a value, and what ends the wait early. */
export interface WaitOptions {
  readonly timeoutMs?: number;
}

/** Arrays start on a cache line of their own. */
const alignment = 64;
const defaultTimeoutMs = 60_000;

/**
 * One-sided puts between arrays that every rank has at the same place of its heap. Nothing but `fence` orders puts, and
 * a put is seen by its target without that rank's doing. Owns its heap; the world and the fabric are the caller's.
 */
export class Shmem implements AsyncDisposable {
  readonly rank: number;
  readonly size: number;
  readonly #world: World;
  readonly #fabric: Fabric;
  readonly #heap: FabricBuffer;
  readonly #remotes: readonly RemoteRegion[];
  readonly #deliveries = new Deliveries();
  #used = 0;
  #closed = false;

  /** See `openShmem`. */
  constructor(options: ShmemOptions, heap: FabricBuffer, remotes: readonly RemoteRegion[]) {
    this.rank = options.world.rank;
    this.size = options.world.size;
    this.#world = options.world;
    this.#fabric = options.fabric;
    this.#heap = heap;
    this.#remotes = remotes;
  }

  /** An array of zeros on every rank. Every rank asks for the same type and length, in the same order, and awaits it. */
  async allocate<A extends NumberArray>(
    type: NumberArrayType<A>,
    length: number,
  ): Promise<Symmetric<A>> {
    this.#open();
    if (!Number.isSafeInteger(length) || length < 0) {
      throw new TypeError(`an array's length is a whole number, not ${length}`);
    }
    const bytes = length * type.BYTES_PER_ELEMENT;
    const offset = Math.ceil(this.#used / alignment) * alignment;
    const asked = await this.#world.allgather('symmetric array', `${length} × ${type.name}`);
    const odd = asked.findIndex((one) => one !== asked[0]);
    if (odd >= 0) {
      throw new WeftError(
        'BAD_USAGE',
        `rank 0 allocates ${asked[0]}, but rank ${odd} allocates ${asked[odd]}`,
        { hint: 'Every rank must allocate the same arrays in the same order.' },
      );
    }
    if (offset + bytes > this.#heap.bytes) {
      throw new WeftError('MEMORY_LIMIT', `the heap of ${this.#heap.bytes} bytes is full`, {
        hint: 'Open it with more bytes.',
      });
    }
    this.#used = offset + bytes;
    const view = this.#heap.view(offset, bytes);
    const local = new type(view.buffer as ArrayBuffer, view.byteOffset, length);
    return { local, length, offset };
  }

  /** Resolves when `peer` has the elements. */
  put<A extends NumberArray>(
    target: Symmetric<A>,
    source: Symmetric<A>,
    peer: number,
    range: PutRange = {},
  ): Promise<void> {
    this.#open();
    const { from, to, bytes } = byteRange(target, source, range);
    const remote = this.#remotes[peer];
    if (remote === undefined) throw new TypeError(`there is no rank ${peer}`);
    if (peer === this.rank) {
      return this.#deliveries.start(peer, async () => {
        this.#heap.view().copyWithin(to, from, from + bytes);
      });
    }
    return this.#deliveries.start(peer, () =>
      this.#fabric.channel(peer).write(this.#heap.slice(from, bytes), remote.slice(to, bytes)),
    );
  }

  /** Returns at once. The source must not change before the next `quiet`, which also tells what failed. */
  putNbi<A extends NumberArray>(
    target: Symmetric<A>,
    source: Symmetric<A>,
    peer: number,
    range: PutRange = {},
  ): void {
    // What it rejects with is kept for the next quiet.
    this.put(target, source, peer, range).catch(() => {});
  }

  /** Resolves when the peers have everything that was put before. */
  quiet(): Promise<void> {
    this.#open();
    return this.#deliveries.quiet();
  }

  /** Puts to a peer after this arrive there after those before it. Returns at once. */
  fence(): void {
    this.#open();
    this.#deliveries.fence();
  }

  /** Quiet, and every rank has come here: what was put before on any rank is there. */
  async barrier(): Promise<void> {
    await this.quiet();
    await this.#world.barrier('shmem');
  }

  /** Resolves when an element of this rank's array, which others put to, is as wanted. */
  async waitUntil<A extends NumberArray>(
    array: Symmetric<A>,
    index: number,
    wanted: (value: A[number]) => boolean,
    { timeoutMs = defaultTimeoutMs }: WaitOptions = {},
  ): Promise<A[number]> {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      this.#open();
      this.#world.signal.throwIfAborted();
      const value = array.local[index];
      if (value === undefined) throw new TypeError(`there is no element ${index}`);
      if (wanted(value)) return value;
      if (performance.now() > deadline) {
        throw new WeftError('TIMEOUT', `element ${index} is still ${value} after ${timeoutMs} ms`, {
          hint: 'Check that the rank that should put to it is still running.',
        });
      }
      // A turn of the event loop, in which the fabric makes progress.
      await turn();
    }
  }

  /** Every rank must have met in a barrier: a put to a heap that is gone fails. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#deliveries.quiet().catch(() => {});
    for (const remote of this.#remotes) remote.close();
    this.#heap.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #open(): void {
    if (this.#closed) throw new WeftError('CLOSED', 'the symmetric heap is closed');
  }
}

/** Makes a heap on every rank; every rank calls it. */
export async function openShmem(options: ShmemOptions): Promise<Shmem> {
  const { world, fabric, bytes } = options;
  const sizes = await world.allgather('heap bytes', bytes);
  const odd = sizes.findIndex((one) => one !== sizes[0]);
  if (odd >= 0) {
    throw new WeftError(
      'BAD_USAGE',
      `rank 0 has a heap of ${sizes[0]} bytes, but rank ${odd} has one of ${sizes[odd]}`,
      { hint: 'Heaps are symmetric: give every rank the same number of bytes.' },
    );
  }
  const heap = await fabric.prepare(bytes, { signal: world.signal });
  return new Shmem(options, heap, await exchangeRegions(world, fabric, heap));
}
