import { setImmediate as turn } from 'node:timers/promises';
import { serveBoard } from '../engine/run-plan.js';
import { isCrowded, spinsFor } from '../engine/spinning.js';
import { WeftError } from '../errors.js';
import type { Fabric } from '../fabric/fabric.js';
import { calling } from '../fabric/faults.js';
import type { FabricBuffer, FabricDeviceBuffer, RemoteRegion } from '../fabric/region.js';
import type { Gpu } from '../gpu/gpu.js';
import { checkRange } from '../memory/buffer.js';
import { addon } from '../native/addon.js';
import type { NativeTransferBoard } from '../native/tasks.js';
import { type Plan, planVersion, type WriteStep } from '../plan/plan.js';
import { defaultChunkBytes, defaultWindow } from '../plan/write-plan.js';
import { exchangeRegions } from '../world/connect-fabric.js';
import type { World } from '../world/world.js';

/** A put that producers may ask for, by its place in the list. */
export interface Transfer {
  /** A rank other than this one. */
  readonly peer: number;
  /** Where in this rank's source. */
  readonly from: number;
  /** Where in the peer's target. */
  readonly to: number;
  /** At least 1. */
  readonly bytes: number;
}

/** What kernels may ask for, and over which fabric it is done. */
export interface ServeTransfersOptions {
  readonly world: World;
  /** Connected to every rank of the world. Until the service is closed it serves nothing else. */
  readonly fabric: Fabric;
  /** What this rank sends from. */
  readonly source: FabricBuffer | FabricDeviceBuffer;
  /** What the other ranks put to. */
  readonly target: FabricBuffer | FabricDeviceBuffer;
  /** Of this rank; may be empty. */
  readonly transfers: readonly Transfer[];
  /** Blocks of the kernels that will ask, or askers on the CPU. Default 1. */
  readonly producers?: number;
  /** Whose kernels ask. Without it, only `putNbi` of the service itself does. */
  readonly gpu?: Gpu;
  /** How long transfers that were asked for may make no progress, and ranks wait for each other. Default 60 s. */
  readonly timeoutMs?: number;
}

const defaultTimeoutMs = 60_000;
/** Of the queue's capacity: never full while each transfer is asked for once at a time. */
const leastShift = 10;

/**
 * A thread of this process that carries out transfers when producers ask for them: kernels with
 * kernels/weft-shmem.cuh, or this object's own `putNbi`. The buffers, the world and the fabric are the caller's.
 */
export class TransferService implements AsyncDisposable {
  readonly #options: ServeTransfersOptions & { timeoutMs: number };
  readonly #remotes: readonly RemoteRegion[];
  readonly #board: NativeTransferBoard;
  readonly #served: Promise<void>;
  #failure: { readonly error: unknown } | undefined;
  #closing: Promise<void> | undefined;

  /** See `serveTransfers`. */
  constructor(
    options: ServeTransfersOptions & { timeoutMs: number },
    remotes: readonly RemoteRegion[],
  ) {
    const { world, fabric, source, target, transfers, producers = 1, gpu, timeoutMs } = options;
    this.#options = options;
    this.#remotes = remotes;
    const shift = Math.max(leastShift, Math.ceil(Math.log2(2 * transfers.length + 1)));
    this.#board = calling(
      () => new (addon().TransferBoard)({ producers, shift, ...(gpu && { gpu: gpu.index }) }),
    );
    const plan = transferPlan(options);
    const spinsBeforeYield = spinsFor(isCrowded(world));
    const how = { world, fabric, timeoutMs, spinsBeforeYield };
    this.#served = serveBoard(how, { source, target, remotes }, plan, this.#board);
    // Whoever closes is told; until then quiet tells.
    this.#served.catch((error) => {
      this.#failure = { error };
    });
  }

  /** `weft::shmem::Context`, to be given to a kernel by value. */
  get context(): Uint8Array {
    if (!this.#options.gpu) throw new TypeError('the service was opened without a GPU');
    this.#open();
    return this.#board.context();
  }

  /** Asks for a transfer and returns; not for services of a GPU, whose kernels ask. */
  putNbi(transfer: number, producer = 0): void {
    this.#open();
    // When the service has ended, the next quiet says why.
    calling(() => this.#board.putNbi(producer, transfer));
  }

  /** Resolves when the peers have everything that this producer asked for. */
  async quiet(producer = 0): Promise<void> {
    this.#open();
    for (;;) {
      const seen = calling(() => this.#board.look(producer));
      if (seen === 1) return;
      if (seen === 2) {
        await this.#served;
        throw new WeftError('CLOSED', 'the service was closed before everything was delivered');
      }
      await turn();
    }
  }

  /**
   * Every rank calls it, when its producers have ended: what they asked for is delivered, on every rank, when it
   * resolves. Rejects with what ended the service early.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    if (!this.#failure) {
      await this.#meet();
      this.#board.finish();
    }
    await this.#served;
    for (const remote of this.#remotes) remote.close();
  }

  /** Not over the fabric: until all have come, all must go on serving. */
  async #meet(): Promise<void> {
    const { world, fabric, timeoutMs } = this.#options;
    const all = world.barrier('transfers served', { timeoutMs });
    all.catch(() => {});
    try {
      // A service that fails meanwhile is the reason worth telling.
      await Promise.race([all, this.#served]);
    } catch (error) {
      fabric.port.native.abort();
      await this.#served.catch(() => {});
      throw error;
    }
  }

  #open(): void {
    if (this.#closing) throw new WeftError('CLOSED', 'the service is closed');
  }
}

/** Starts serving; every rank calls it, those that only receive with an empty list. */
export async function serveTransfers(options: ServeTransfersOptions): Promise<TransferService> {
  const { world, fabric, target } = options;
  const timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
  checkTransfers(options);
  const remotes = await exchangeRegions(world, fabric, target);
  try {
    for (const [index, { peer, to, bytes }] of options.transfers.entries()) {
      checkWithin(index, 'to', to, bytes, remotes[peer]!.bytes);
    }
    return new TransferService({ ...options, timeoutMs }, remotes);
  } catch (error) {
    for (const remote of remotes) remote.close();
    throw error;
  }
}

function checkTransfers({ world, transfers, source }: ServeTransfersOptions): void {
  for (const [index, { peer, from, bytes }] of transfers.entries()) {
    if (!Number.isInteger(peer) || peer < 0 || peer >= world.size || peer === world.rank) {
      throw new TypeError(
        `transfer ${index} goes to rank ${peer}, which is not another rank of this world`,
      );
    }
    if (!(bytes >= 1)) throw new TypeError(`transfer ${index} has no bytes`);
    checkWithin(index, 'from', from, bytes, source.bytes);
  }
}

function checkWithin(index: number, end: string, offset: number, bytes: number, limit: number) {
  try {
    checkRange(offset, bytes, limit);
  } catch (cause) {
    throw new TypeError(`transfer ${index}, ${end}: ${(cause as Error).message}`, { cause });
  }
}

/** One write for each transfer, on the channels in turn. Nobody waits for them: see native/proxy/serving-executor.h. */
function transferPlan(options: ServeTransfersOptions): Plan {
  const { world, fabric, source, target, transfers } = options;
  const { channels } = fabric;
  return {
    version: planVersion,
    rank: world.rank,
    world: world.size,
    channels: channels.length,
    chunkBytes: Math.min(defaultChunkBytes, ...channels.map((one) => one.maxWriteBytes)),
    window: Math.max(1, Math.min(defaultWindow, ...channels.map((one) => one.sendQueue))),
    delivery: 'complete',
    sourceBytes: source.bytes,
    targetBytes: target.bytes,
    steps: transfers.map(
      ({ peer, from, to, bytes }, index): WriteStep => ({
        kind: 'post',
        op: 'write',
        channel: index % channels.length,
        peer,
        local: { buffer: 'source', offset: from, bytes },
        remote: { offset: to },
        slot: 0,
        after: [],
      }),
    ),
  };
}
