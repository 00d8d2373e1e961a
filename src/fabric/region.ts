import { WeftError } from '../errors.js';
import { DeviceBuffer, type Dmabuf } from '../gpu/device-buffer.js';
import { checkRange, HostBuffer, type MemoryKind } from '../memory/buffer.js';
import type { NativeMemory } from '../native/memory.js';
import type { DevicePath } from './device-path.js';
import { calling } from './faults.js';
import type { PromisePort } from './port.js';
import {
  type Granted,
  type RegionDescription,
  Registration,
  type RegistrationParts,
} from './registration.js';

export type { RegionDescription } from './registration.js';

/** Memory of this rank that a fabric knows, of the host or of a GPU. */
export interface Registered {
  /** For peers: hand it to them, and they to `fabric.remote()`. */
  describe(): RegionDescription;
  /** The registration, which belongs to one fabric alone. */
  region(port: PromisePort): number;
  /** The fabric is closed, and the registration with it. */
  release(): void;
}

export interface RegisteredParts<B> extends RegistrationParts {
  readonly bytes: number;
  readonly onClose: (buffer: B) => void;
}

/** What to allocate; `native` and `granted` where that has been prepared and registered already. */
interface FabricMemory {
  readonly memory: MemoryKind;
  readonly native?: NativeMemory;
  readonly granted?: Granted;
}

/** Memory of this rank, registered with every channel of a fabric. */
export class FabricBuffer extends HostBuffer implements Registered {
  readonly #registration: Registration;
  readonly #onClose: (buffer: FabricBuffer) => void;

  constructor(parts: RegisteredParts<FabricBuffer> & FabricMemory) {
    super(parts.bytes, parts);
    this.#onClose = parts.onClose;
    try {
      this.#registration = new Registration(parts, this, parts.granted);
    } catch (error) {
      super.close();
      throw error;
    }
  }

  describe(): RegionDescription {
    return this.#registration.description;
  }

  region(port: PromisePort): number {
    if (this.closed) throw new WeftError('CLOSED', 'the buffer is closed');
    return this.#registration.idFor(port);
  }

  /** Refuses with BUSY while an operation uses it. */
  override close(): void {
    if (this.closed) return;
    this.#registration.remove();
    this.release();
  }

  release(): void {
    super.close();
    this.#onClose(this);
  }
}

/** A GPU's memory, registered with every channel of a fabric. */
export class FabricDeviceBuffer extends DeviceBuffer implements Registered {
  readonly #registration: Registration;
  readonly #dmabuf: Dmabuf | undefined;
  readonly #onClose: (buffer: FabricDeviceBuffer) => void;

  constructor(parts: RegisteredParts<FabricDeviceBuffer> & { gpuIndex: number; path: DevicePath }) {
    super(parts.gpuIndex, parts.bytes);
    this.#onClose = parts.onClose;
    try {
      this.#dmabuf = parts.path === 'dmabuf' ? this.exportDmabuf() : undefined;
      const { native, address, bytes } = this;
      const dmabuf = this.#dmabuf && { dmabuf: this.#dmabuf.fd };
      this.#registration = new Registration(parts, { native, address, bytes, ...dmabuf });
    } catch (error) {
      this.#dmabuf?.close();
      super.close();
      throw error;
    }
  }

  describe(): RegionDescription {
    return this.#registration.description;
  }

  region(port: PromisePort): number {
    if (this.closed) throw new WeftError('CLOSED', 'the buffer is closed');
    return this.#registration.idFor(port);
  }

  /** Refuses with BUSY while an operation uses it. */
  override close(): void {
    if (this.closed) return;
    this.#registration.remove();
    this.release();
  }

  release(): void {
    this.#dmabuf?.close();
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
