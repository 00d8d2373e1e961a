import { WeftError } from '../errors.js';
import { checkRange, HostBuffer, type MemoryKind } from '../memory/buffer.js';
import { calling } from './faults.js';
import type { PromisePort } from './port.js';

/** What a peer must know to write into a region; plain data, made to be sent. One entry per channel. */
export interface RegionDescription {
  readonly bytes: number;
  readonly addresses: readonly string[];
  readonly keys: readonly string[];
}

/** Memory of this rank, registered with every channel of a fabric. */
export class FabricBuffer extends HostBuffer {
  readonly #port: PromisePort;
  readonly #id: number;
  readonly #description: RegionDescription;
  readonly #onClose: (buffer: FabricBuffer) => void;

  constructor(parts: {
    bytes: number;
    memory: MemoryKind;
    port: PromisePort;
    keys: readonly bigint[];
    bases: (address: bigint) => readonly bigint[];
    onClose: (buffer: FabricBuffer) => void;
  }) {
    super(parts.bytes, { memory: parts.memory });
    this.#port = parts.port;
    this.#onClose = parts.onClose;
    try {
      const { id, keys } = calling(() => parts.port.native.addRegion(this.native, parts.keys));
      this.#id = id;
      this.#description = {
        bytes: parts.bytes,
        addresses: parts.bases(this.address).map(String),
        keys: keys.map(String),
      };
    } catch (error) {
      super.close();
      throw error;
    }
  }

  /** For peers: hand it to them, and they to `fabric.remote()`. */
  describe(): RegionDescription {
    return this.#description;
  }

  /** The registration, which belongs to one fabric alone. */
  region(port: PromisePort): number {
    if (this.closed) throw new WeftError('CLOSED', 'the buffer is closed');
    if (port !== this.#port) throw new TypeError('the buffer belongs to another fabric');
    return this.#id;
  }

  /** Refuses with BUSY while an operation uses it. */
  override close(): void {
    if (this.closed) return;
    if (!calling(() => this.#port.native.removeRegion(this.#id))) {
      throw new WeftError('BUSY', 'the buffer is in use by a transfer under way', {
        hint: 'Await the transfers first, or close the fabric, which ends them.',
      });
    }
    this.release();
  }

  /** The fabric is closed, and the registration with it. */
  release(): void {
    super.close();
    this.#onClose(this);
  }
}

/** A peer's region, as this rank reaches it. */
export class RemoteRegion implements Disposable {
  readonly bytes: number;
  readonly #port: PromisePort;
  readonly #id: number;
  #closed = false;

  constructor(port: PromisePort, description: RegionDescription) {
    this.#port = port;
    this.bytes = description.bytes;
    this.#id = calling(() =>
      port.native.addRemote(description.addresses.map(BigInt), description.keys.map(BigInt)),
    );
  }

  get id(): number {
    if (this.#closed) throw new WeftError('CLOSED', 'the remote region is closed');
    return this.#id;
  }

  /** The number by which this fabric knows it; no other does. */
  idFor(port: PromisePort): number {
    if (port !== this.#port) throw new TypeError('the remote region belongs to another fabric');
    return this.id;
  }

  slice(offset = 0, bytes = this.bytes - offset): RemoteSlice {
    checkRange(offset, bytes, this.bytes);
    return { region: this, offset, bytes };
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    if (!this.#port.closed) calling(() => this.#port.native.removeRemote(this.#id));
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** A part of a peer's region. */
export interface RemoteSlice {
  readonly region: RemoteRegion;
  readonly offset: number;
  readonly bytes: number;
}
