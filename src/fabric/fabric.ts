import { WeftError } from '../errors.js';
import { type MemoryKind, type PrepareOptions, prepareMemory } from '../memory/buffer.js';
import type { NativeLimits } from '../native/fabric.js';
import { type Channel, FabricChannel } from './channel.js';
import type { DevicePath } from './device-path.js';
import { isEmulated } from './emulated.js';
import { calling } from './faults.js';
import { maxRanks } from './immediates.js';
import { type Library, loadLibrary } from './library.js';
import { type LocalShm, localShmOf } from './local-shm.js';
import { memoryMode, remoteBase, requestedKey } from './memory-mode.js';
import { PromisePort } from './port.js';
import { findOffers, type Offer, type OfferOptions, offeredName } from './providers.js';
import {
  FabricBuffer,
  FabricDeviceBuffer,
  type RegionDescription,
  type Registered,
  type RegisteredParts,
  RemoteRegion,
} from './region.js';
import { sweepSegments } from './segments.js';

/** Which provider and NICs to open; everything has a default that suits this machine. */
export interface FabricOptions extends OfferOptions {
  /** How many ranks will be connected; sizes the provider's tables. */
  readonly peersExpected?: number;
}

/** One NIC in use, as results describe it. */
export interface FabricChannelInfo {
  readonly nic: string;
  readonly lineRateGbps: number | undefined;
  /** Of a message, and of one write. */
  readonly maxMessageBytes: number;
  readonly maxWriteBytes: number;
  readonly injectBytes: number;
  readonly sendQueue: number;
  readonly receiveQueue: number;
  readonly directedReceives: boolean;
  /** Targets acknowledge writes, because the provider does not say when they are delivered. */
  readonly acknowledgedWrites: boolean;
  /** Whether the provider makes sends of writes; undefined where it does not say. */
  readonly emulatedWrites: boolean | undefined;
  readonly autoProgress: boolean;
  readonly emulated: boolean;
}

/** This rank's endpoints, one per channel, and everything made with them. Closing it closes all of that. */
export class Fabric implements AsyncDisposable {
  readonly library: Library;
  readonly provider: string;
  /** Whether ranks of one host may bypass the NICs, where the provider has such a shortcut. */
  readonly localShm: LocalShm | undefined;
  readonly channels: readonly FabricChannelInfo[];
  /** What every channel's provider says it can do. */
  readonly caps: bigint;
  /** Whether ranks may read each other's memory over every channel. */
  readonly reads: boolean;
  /** Where peers reach this rank, one address per channel. */
  readonly addresses: readonly Uint8Array[];
  readonly port = new PromisePort();
  readonly #offers: readonly Offer[];
  readonly #buffers = new Set<Registered>();
  readonly #channels = new Map<string, Channel>();
  #rank: number | undefined;
  #size = 0;
  #serial = 1;
  #closed = false;

  constructor(options: FabricOptions) {
    const { localShm = false } = options;
    this.library = loadLibrary({ localShm });
    if (options.provider === 'shm') sweepSegments();
    this.#offers = findOffers(options);
    this.provider = offeredName(this.#offers[0]!.info);
    this.localShm = localShmOf(this.provider, this.library, localShm);
    this.caps = this.#offers.reduce((all, { info }) => all & info.caps, ~0n);
    this.reads = this.#offers.every(({ info }) => info.reads);
    for (const offer of this.#offers) memoryMode(offer.info.mrMode); // refuses what we cannot do, before opening
    try {
      for (const { info, directed, acknowledged } of this.#offers) {
        const peersExpected = options.peersExpected ?? 0;
        const how = {
          directed,
          acknowledged,
          peersExpected,
          localShm: this.localShm?.allowed ?? false,
        };
        calling(() => this.port.native.open(info.handle, how));
      }
      this.channels = this.#offers.map((offer, index) =>
        describe(
          offer,
          calling(() => this.port.native.limits(index)),
        ),
      );
      this.addresses = this.#offers.map((_, index) => calling(() => this.port.native.name(index)));
    } catch (error) {
      this.port.close();
      throw error;
    }
    this.port.start();
  }

  /** Learns every rank's addresses, this one's included: `everyone[rank][channel]`. Once. */
  connect(rank: number, everyone: readonly (readonly Uint8Array[])[]): void {
    if (this.#rank !== undefined) throw new TypeError('the fabric is already connected');
    if (everyone.length > maxRanks) {
      throw new WeftError(
        'UNSUPPORTED',
        `a fabric connects at most ${maxRanks} ranks, not ${everyone.length}`,
      );
    }
    const wanted = this.addresses.length;
    const odd = everyone.findIndex((addresses) => addresses.length !== wanted);
    if (odd >= 0) {
      throw new WeftError(
        'BAD_USAGE',
        `rank ${odd} has ${everyone[odd]!.length} channels, but rank ${rank} has ${wanted}`,
        { hint: 'Give every rank the same number of NICs or channels.' },
      );
    }
    for (let index = 0; index < wanted; index++) {
      const addresses = everyone.map((one) => one[index]!);
      calling(() => this.port.native.connect(index, rank, addresses));
    }
    this.#rank = rank;
    this.#size = everyone.length;
  }

  /** The path to a peer over channel `index`. */
  channel(peer: number, index = 0): Channel {
    if (this.#closed) throw new WeftError('CLOSED', 'the fabric is closed');
    if (this.#rank === undefined) throw new TypeError('connect the fabric first');
    const exists = Number.isInteger(peer) && peer >= 0 && peer < this.#size;
    if (!exists || this.channels[index] === undefined) {
      throw new TypeError(`there is no channel ${index} to rank ${peer}`);
    }
    const key = `${peer}/${index}`;
    const known = this.#channels.get(key);
    if (known) return known;
    const limits = this.channels[index];
    const made = new FabricChannel({ port: this.port, rank: this.#rank, peer, index, limits });
    this.#channels.set(key, made);
    return made;
  }

  /** Memory registered with every channel. */
  allocate(bytes: number, options: { memory?: MemoryKind } = {}): FabricBuffer {
    const memory = options.memory ?? 'host';
    return this.#keep(new FabricBuffer({ ...this.#registrationOf(bytes), memory }));
  }

  /**
   * The same without keeping JavaScript's thread, for buffers so large that locking and registering them takes seconds.
   * While it registers, every other call on this fabric rejects with BUSY.
   */
  async prepare(bytes: number, options: PrepareOptions = {}): Promise<FabricBuffer> {
    const memory = options.memory ?? 'host';
    const parts = this.#registrationOf(bytes);
    const native = await prepareMemory(bytes, options);
    try {
      const granted = await this.port.drive((port) => port.addRegionLater(native, parts.keys));
      return this.#keep(new FabricBuffer({ ...parts, memory, native, granted }));
    } catch (error) {
      native.close();
      throw error;
    }
  }

  /** A GPU's memory, registered with every channel; the fabric must have been opened for it. */
  allocateDevice(bytes: number, gpu: { index: number }, path: DevicePath): FabricDeviceBuffer {
    const parts = { ...this.#registrationOf(bytes), gpuIndex: gpu.index, path };
    return this.#keep(new FabricDeviceBuffer(parts));
  }

  #registrationOf(bytes: number): RegisteredParts<Registered> {
    if (this.#closed) throw new WeftError('CLOSED', 'the fabric is closed');
    const serial = this.#serial++;
    const modes = this.#offers.map(({ info }) => memoryMode(info.mrMode));
    return {
      bytes,
      port: this.port,
      keys: modes.map((mode, i) => requestedKey(mode, serial, this.#offers[i]!.info.mrKeySize)),
      bases: (address) => modes.map((mode) => remoteBase(mode, address)),
      onClose: (closed) => this.#buffers.delete(closed),
    };
  }

  #keep<B extends Registered>(buffer: B): B {
    this.#buffers.add(buffer);
    return buffer;
  }

  /** A peer's buffer, from its description. */
  remote(description: RegionDescription): RemoteRegion {
    if (this.#closed) throw new WeftError('CLOSED', 'the fabric is closed');
    return new RemoteRegion(this.port, description);
  }

  /** Transfers under way reject with CLOSED; buffers close. Refuses with BUSY while a plan runs. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.port.close();
    this.#closed = true;
    for (const buffer of this.#buffers) buffer.release();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function describe(
  { info, nic, lineRateGbps, directed, acknowledged }: Offer,
  { emulatedWrites, sorted, ...limits }: NativeLimits,
): FabricChannelInfo {
  return {
    nic,
    lineRateGbps,
    ...limits,
    injectBytes: info.injectBytes,
    sendQueue: info.sendQueue,
    directedReceives: directed || sorted,
    acknowledgedWrites: acknowledged,
    emulatedWrites,
    autoProgress: info.autoProgress,
    emulated: isEmulated(info.nic?.firmware),
  };
}

/** Opens one endpoint per channel. The caller owns the fabric and closes it. */
export async function openFabric(options: FabricOptions): Promise<Fabric> {
  return new Fabric(options);
}
