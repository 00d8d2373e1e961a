import { WeftError } from '../errors.js';
import type { NativeSpan } from '../native/memory.js';
import { calling } from './faults.js';
import type { PromisePort } from './port.js';

/** What a peer must know to write into a region; plain data, made to be sent. One entry per channel. */
export interface RegionDescription {
  readonly bytes: number;
  readonly addresses: readonly string[];
  readonly keys: readonly string[];
}

/** How memory is to be registered with every channel of a fabric. */
export interface RegistrationParts {
  readonly port: PromisePort;
  readonly keys: readonly bigint[];
  /** Where peers find the start of the region, by channel. */
  readonly bases: (address: bigint) => bigint[];
}

/** What a fabric answers to a registration. */
export interface Granted {
  readonly id: number;
  readonly keys: readonly bigint[];
}

/** Memory of this rank as its fabric knows it; of the host or of a GPU. The buffer that has it owns it. */
export class Registration {
  readonly description: RegionDescription;
  readonly #port: PromisePort;
  readonly #id: number;

  /** Registers the memory, unless it has been `granted` already. */
  constructor(
    parts: RegistrationParts,
    memory: { native: NativeSpan; address: bigint; bytes: number; dmabuf?: number },
    granted?: Granted,
  ) {
    this.#port = parts.port;
    const { id, keys } =
      granted ??
      calling(() => parts.port.native.addRegion(memory.native, parts.keys, memory.dmabuf));
    this.#id = id;
    this.description = {
      bytes: memory.bytes,
      addresses: parts.bases(memory.address).map(String),
      keys: keys.map(String),
    };
  }

  /** The number by which one fabric alone knows it. */
  idFor(port: PromisePort): number {
    if (port !== this.#port) throw new TypeError('the buffer belongs to another fabric');
    return this.#id;
  }

  /** Refuses with BUSY while an operation uses it. */
  remove(): void {
    if (calling(() => this.#port.native.removeRegion(this.#id))) return;
    throw new WeftError('BUSY', 'a transfer still uses this buffer', {
      hint: 'Await the transfer first, or close the fabric to end it.',
    });
  }
}
