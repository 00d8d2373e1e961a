import { closeSync } from 'node:fs';
import { WeftError } from '../errors.js';
import { checkRange, HostBuffer, type Mismatch, type PatternRange } from '../memory/buffer.js';
import type { NumberKind, NumberPart } from '../memory/numbers.js';
import { addon } from '../native/addon.js';
import type { NativeDeviceMemory } from '../native/memory.js';
import { awaitingGpu, callingGpu } from './faults.js';

/** Which bytes of the host buffer meet which of the GPU's; by default all, from the start of both. */
interface CopyRange {
  readonly offset?: number;
  readonly hostOffset?: number;
  readonly bytes?: number;
}

/** Memory of a GPU as a file descriptor that a NIC's driver understands. Who exports closes. */
export class Dmabuf implements Disposable {
  readonly fd: number;
  /** Of the whole allocation, which the descriptor stands for; the buffer starts at its start. */
  readonly bytes: number;
  #closed = false;

  constructor(fd: number, bytes: number) {
    this.fd = fd;
    this.bytes = bytes;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    closeSync(this.fd);
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/**
 * Zeroed memory of one GPU. Fill and verify run on the GPU, with the same pattern as a HostBuffer's: what one fills
 * the other verifies. Closing while work is under way is allowed: the memory is freed when that is done.
 */
export class DeviceBuffer implements Disposable {
  readonly memory = 'device';
  readonly gpuIndex: number;
  readonly bytes: number;
  readonly #native: NativeDeviceMemory;
  #closed = false;

  /** `gpuIndex` must be the index of a GPU that is open: see Gpu.allocate. */
  constructor(gpuIndex: number, bytes: number) {
    if (!Number.isSafeInteger(bytes) || bytes < 0) {
      throw new TypeError(`a buffer's size must be a whole number of bytes, not ${bytes}`);
    }
    this.gpuIndex = gpuIndex;
    this.bytes = bytes;
    this.#native = callingGpu(() => new (addon().DeviceMemory)(gpuIndex, bytes));
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** For the rooms that register it. */
  get native(): NativeDeviceMemory {
    if (this.#closed) throw new WeftError('CLOSED', 'the buffer is closed');
    return this.#native;
  }

  /** On the device. */
  get address(): bigint {
    return this.native.pointer;
  }

  /** Writes the test pattern of `seed`, as HostBuffer.fill does. */
  async fill(seed: number, options: PatternRange = {}): Promise<void> {
    const { offset = 0, bytes = this.bytes - offset, position = 0 } = options;
    checkRange(offset, bytes, this.bytes);
    await awaitingGpu(() => this.native.fill(offset, bytes, seed, position));
  }

  /** Compares every byte with the test pattern, on the GPU. */
  async verify(seed: number, options: PatternRange = {}): Promise<Mismatch> {
    const { offset = 0, bytes = this.bytes - offset, position = 0 } = options;
    checkRange(offset, bytes, this.bytes);
    return await awaitingGpu(() => this.native.verify(offset, bytes, seed, position));
  }

  /** Every byte becomes `value`, 0 to 255. */
  async set(value: number, options: Omit<PatternRange, 'position'> = {}): Promise<void> {
    const { offset = 0, bytes = this.bytes - offset } = options;
    checkRange(offset, bytes, this.bytes);
    if (!Number.isInteger(value) || value < 0 || value > 255) {
      throw new TypeError(`${value} is not a byte (0 to 255)`);
    }
    await awaitingGpu(() => this.native.set(offset, bytes, value));
  }

  async copyFrom(host: HostBuffer, range: CopyRange = {}): Promise<void> {
    const { offset, hostOffset, bytes } = this.#copyRange(host, range);
    await awaitingGpu(() => this.native.copyFromHost(offset, bytes, host.native, hostOffset));
  }

  async copyTo(host: HostBuffer, range: CopyRange = {}): Promise<void> {
    const { offset, hostOffset, bytes } = this.#copyRange(host, range);
    await awaitingGpu(() => this.native.copyToHost(offset, bytes, host.native, hostOffset));
  }

  /** As HostBuffer.writeNumbers, by way of host memory. */
  async writeNumbers(kind: NumberKind, parts: readonly NumberPart[]): Promise<void> {
    using host = await HostBuffer.prepare(this.bytes);
    await this.copyTo(host);
    await host.writeNumbers(kind, parts);
    await this.copyFrom(host);
  }

  /** As HostBuffer.compareNumbers, by way of host memory. */
  async compareNumbers(kind: NumberKind, parts: readonly NumberPart[]): Promise<Mismatch> {
    using host = await HostBuffer.prepare(this.bytes);
    await this.copyTo(host);
    return await host.compareNumbers(kind, parts);
  }

  /** Throws UNSUPPORTED where GPU or driver cannot. */
  exportDmabuf(): Dmabuf {
    const native = this.native;
    return new Dmabuf(
      callingGpu(() => native.exportDmabuf()),
      native.allocated,
    );
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#native.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #copyRange(host: HostBuffer, range: CopyRange): Required<CopyRange> {
    const { offset = 0, hostOffset = 0 } = range;
    const { bytes = Math.min(this.bytes - offset, host.bytes - hostOffset) } = range;
    checkRange(offset, bytes, this.bytes);
    checkRange(hostOffset, bytes, host.bytes);
    return { offset, hostOffset, bytes };
  }
}
