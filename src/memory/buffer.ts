import { constants } from 'node:os';
import { WeftError } from '../errors.js';
import { formatBytesRounded } from '../measure/units.js';
import { addon, isNativeFault } from '../native/addon.js';
import type { Mismatch, NativeMemory } from '../native/memory.js';

import { compareNumbers, type NumberKind, type NumberPart, writeNumbers } from './numbers.js';

export type { Mismatch } from '../native/memory.js';

/** `pinned` memory is locked into RAM; `host` memory is ordinary. Both use transparent huge pages from 1 MiB up. */
export type MemoryKind = 'host' | 'pinned';

const maxViewBytes = 2 ** 32 - 1;

/**
 * Memory outside the JavaScript heap, of any size. Views of it end at 4 GiB in Node 20, so larger buffers are
 * looked at slice by slice. Closing detaches every view.
 */
export class HostBuffer implements Disposable {
  readonly bytes: number;
  readonly memory: MemoryKind;
  readonly #native: NativeMemory;
  #closed = false;

  /** `native` is what `prepareMemory` made, with the same bytes and memory. */
  constructor(bytes: number, options: { memory?: MemoryKind; native?: NativeMemory } = {}) {
    this.bytes = bytes;
    this.memory = options.memory ?? 'host';
    this.#native = options.native ?? mapMemory(bytes, this.memory, false);
  }

  /** The same without keeping JavaScript's thread: for buffers so large that touching their pages takes seconds. */
  static async prepare(bytes: number, options: PrepareOptions = {}): Promise<HostBuffer> {
    return new HostBuffer(bytes, { ...options, native: await prepareMemory(bytes, options) });
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** For the rooms that register it; undefined behaviour follows if it outlives the buffer. */
  get native(): NativeMemory {
    if (this.#closed) throw new WeftError('CLOSED', 'the buffer is closed');
    return this.#native;
  }

  get address(): bigint {
    return this.native.address;
  }

  /** Known to CUDA: pinned memory is when it is made while a GPU is in use. */
  get gpuRegistered(): boolean {
    return this.native.gpuRegistered;
  }

  /** Where kernels find it. Only where it is known to CUDA. */
  get gpuAddress(): bigint {
    const address = this.native.gpuAddress;
    if (address !== undefined) return address;
    throw new WeftError('BAD_USAGE', 'no GPU can reach this buffer', {
      hint: 'Open the GPU first, then allocate the buffer with `memory: "pinned"`.',
    });
  }

  /** The whole buffer, or a part of it. */
  slice(offset = 0, bytes = this.bytes - offset): Slice<this> {
    checkRange(offset, bytes, this.bytes);
    return { buffer: this, offset, bytes };
  }

  /** The memory itself, not a copy. */
  view(offset = 0, bytes = this.bytes - offset): Uint8Array {
    checkRange(offset, bytes, this.bytes);
    if (bytes > maxViewBytes) {
      throw new TypeError(`a view holds at most 4 GiB: split ${bytes} bytes into several views`);
    }
    return new Uint8Array(this.native.view(offset, bytes));
  }

  /**
   * Writes the test pattern of `seed`. `position` is the place of the first byte in the pattern: a slice filled
   * at position p verifies at position p wherever it has been copied to.
   */
  async fill(seed: number, options: PatternRange = {}): Promise<void> {
    const { offset = 0, bytes = this.bytes - offset, position = 0 } = options;
    checkRange(offset, bytes, this.bytes);
    await this.native.fill(offset, bytes, seed, position);
  }

  /** Compares every byte with the test pattern. */
  verify(seed: number, options: PatternRange = {}): Promise<Mismatch> {
    const { offset = 0, bytes = this.bytes - offset, position = 0 } = options;
    checkRange(offset, bytes, this.bytes);
    return this.native.verify(offset, bytes, seed, position);
  }

  writeNumbers(kind: NumberKind, parts: readonly NumberPart[]): Promise<void> {
    return writeNumbers(this.native, kind, parts);
  }

  compareNumbers(kind: NumberKind, parts: readonly NumberPart[]): Promise<Mismatch> {
    return compareNumbers(this.native, kind, parts);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#native.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

export interface PrepareOptions {
  readonly memory?: MemoryKind;
  /** Gives up; the promise rejects with its reason. */
  readonly signal?: AbortSignal;
  /** Told about once a second how many bytes are ready. */
  readonly progress?: (preparedBytes: number) => void;
}

const progressMs = 1000;

/** Maps, locks and touches memory on a thread of its own. */
export async function prepareMemory(
  bytes: number,
  { memory = 'host', signal, progress }: PrepareOptions,
): Promise<NativeMemory> {
  signal?.throwIfAborted();
  const native = mapMemory(bytes, memory, true);
  const task = native.prepare();
  const timer = progress && setInterval(() => progress(task.prepared()), progressMs);
  const abort = () => task.abort();
  signal?.addEventListener('abort', abort, { once: true });
  try {
    await task.done;
    return native;
  } catch (error) {
    native.close();
    throw signal?.aborted ? signal.reason : memoryError(error, bytes);
  } finally {
    clearInterval(timer);
    signal?.removeEventListener('abort', abort);
  }
}

function mapMemory(bytes: number, memory: MemoryKind, later: boolean): NativeMemory {
  if (!Number.isSafeInteger(bytes) || bytes < 0) {
    throw new TypeError(`a buffer's size must be a whole number of bytes, not ${bytes}`);
  }
  try {
    return new (addon().Memory)(bytes, memory === 'pinned', later);
  } catch (error) {
    throw memoryError(error, bytes);
  }
}

export interface PatternRange {
  readonly offset?: number;
  readonly bytes?: number;
  readonly position?: number;
}

/** A part of a buffer. */
export interface Slice<B extends HostBuffer = HostBuffer> {
  readonly buffer: B;
  readonly offset: number;
  readonly bytes: number;
}

export function checkRange(offset: number, bytes: number, limit: number): void {
  const whole = Number.isSafeInteger(offset) && Number.isSafeInteger(bytes);
  if (!whole || offset < 0 || bytes < 0 || offset + bytes > limit) {
    throw new TypeError(`bytes ${offset}…${offset + bytes} are outside a buffer of ${limit} bytes`);
  }
}

function memoryError(error: unknown, bytes: number): unknown {
  if (!isNativeFault(error)) return error;
  const { operation, code, text } = error;
  const { EPERM, ENOMEM } = constants.errno;
  const size = `${formatBytesRounded(bytes)} of memory`;
  const raise =
    'Raise the limit (`ulimit -l unlimited`, or memlock in /etc/security/limits.conf), or use smaller sizes.';
  const smaller = 'Use smaller sizes, or host memory.';
  const [what, hint] =
    operation === 'mlock'
      ? [`page-lock ${size}`, code === EPERM || code === ENOMEM ? raise : smaller]
      : operation === 'cuMemHostRegister'
        ? [`register ${size} with CUDA`, smaller]
        : [`allocate ${size}`, 'Use smaller sizes or fewer ranks.'];
  return new WeftError('MEMORY_LIMIT', `cannot ${what}: ${text}`, { hint, cause: error });
}
