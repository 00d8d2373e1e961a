import { WeftError } from '../errors.js';
import type { Slice } from '../memory/buffer.js';
import { operationKind } from './command.js';
import { fabricError } from './faults.js';
import { encodeUserImmediate } from './immediates.js';
import type { PromisePort } from './port.js';
import type { FabricBuffer, RemoteSlice } from './region.js';

/** How long an operation may take, and what ends it early. */
export interface OperationOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

/** What a write tells the peer, besides the bytes. */
export interface WriteOptions extends OperationOptions {
  /** 0…65535, told to the peer once the bytes are there. */
  readonly immediate?: number;
}

/** A path from this rank to one peer over one NIC. Order is not promised. */
export interface Channel {
  readonly peer: number;
  readonly index: number;
  /** Resolves when the peer has the bytes. */
  write(from: Slice<FabricBuffer>, to: RemoteSlice, options?: WriteOptions): Promise<void>;
  /** Resolves when the bytes are in `into`. The peer takes no part. */
  read(into: Slice<FabricBuffer>, from: RemoteSlice, options?: OperationOptions): Promise<void>;
  /** Resolves when `from` may be reused. */
  send(from: Slice<FabricBuffer>, options?: OperationOptions): Promise<void>;
  /** Resolves with the number of bytes that arrived. */
  recv(into: Slice<FabricBuffer>, options?: OperationOptions): Promise<number>;
  /** Consumes one arrival of `value` (0…65535) from this peer; arrivals before the call are remembered. */
  immediate(value: number, options?: OperationOptions): Promise<void>;
}

interface ChannelParts {
  readonly port: PromisePort;
  readonly rank: number;
  readonly peer: number;
  readonly index: number;
  readonly limits: { readonly maxMessageBytes: number; readonly maxWriteBytes: number };
}

export class FabricChannel implements Channel {
  readonly peer: number;
  readonly index: number;
  readonly #port: PromisePort;
  readonly #rank: number;
  /** Rides with a message where receives cannot name their sender. */
  readonly #sender: number;
  readonly #limits: ChannelParts['limits'];

  constructor(parts: ChannelParts) {
    this.peer = parts.peer;
    this.index = parts.index;
    this.#port = parts.port;
    this.#rank = parts.rank;
    this.#sender = encodeUserImmediate(parts.rank, 0);
    this.#limits = parts.limits;
  }

  write(from: Slice<FabricBuffer>, to: RemoteSlice, options?: WriteOptions): Promise<void> {
    if (from.bytes !== to.bytes) return differ('write', from.bytes, 'to', to.bytes);
    if (from.bytes > this.#limits.maxWriteBytes) return this.#writeInParts(from, to, options);
    return this.#start(operationKind.write, from, options, to) as Promise<unknown> as Promise<void>;
  }

  read(into: Slice<FabricBuffer>, from: RemoteSlice, options?: OperationOptions): Promise<void> {
    if (into.bytes !== from.bytes) return differ('read', from.bytes, 'into', into.bytes);
    const part = this.#limits.maxWriteBytes;
    if (into.bytes <= part) {
      return this.#start(
        operationKind.read,
        into,
        options,
        from,
      ) as Promise<unknown> as Promise<void>;
    }
    const reads = partsOf(into.bytes, part).map((offset) =>
      this.read(partAt(into, offset, part), partAt(from, offset, part), options),
    );
    return Promise.all(reads).then(() => {});
  }

  send(from: Slice<FabricBuffer>, options?: OperationOptions): Promise<void> {
    const { maxMessageBytes } = this.#limits;
    if (from.bytes > maxMessageBytes) {
      const message = `a message of ${from.bytes} bytes is too long: this provider sends at most ${maxMessageBytes}`;
      const hint = 'Split the message, or use a write.';
      return Promise.reject(new WeftError('UNSUPPORTED', message, { hint }));
    }
    return this.#start(operationKind.send, from, options) as Promise<unknown> as Promise<void>;
  }

  recv(into: Slice<FabricBuffer>, options?: OperationOptions): Promise<number> {
    return this.#start(operationKind.recv, into, options);
  }

  immediate(value: number, options?: OperationOptions): Promise<void> {
    try {
      const data = encodeUserImmediate(this.peer, value);
      const { done, forget } = this.#port.arrival(this.index, data);
      if (!limited(options)) return done;
      const what = `immediate ${value} from rank ${this.peer}`;
      return withLimits(done, options, what, (error, reject) => {
        if (forget()) reject(error);
      });
    } catch (error) {
      return Promise.reject(fabricError(error));
    }
  }

  #start(
    kind: number,
    local: Slice<FabricBuffer>,
    options: WriteOptions | undefined,
    remote?: RemoteSlice,
  ): Promise<number> {
    try {
      if (options?.signal?.aborted) return Promise.reject(abortError(options.signal));
      const { id, done } = this.#port.post({
        kind,
        endpoint: this.index,
        peer: this.peer,
        region: local.buffer.region(this.#port),
        offset: local.offset,
        bytes: local.bytes,
        remote: remote ? remote.region.idFor(this.#port) : 0,
        remoteOffset: remote ? remote.offset : 0,
        data: kind === operationKind.send ? this.#sender : this.#immediateFor(options?.immediate),
      });
      if (id < 0 || !limited(options)) return done;
      const what = `a ${verbs[kind]} rank ${this.peer}`;
      return withLimits(done, options, what, (error) => {
        // Most providers recall a receive, and a message that came first still counts; the rest is on the wire.
        if (kind !== operationKind.recv || !this.#port.cancel(id)) this.#port.abandon(id, error);
      });
    } catch (error) {
      return Promise.reject(fabricError(error));
    }
  }

  #immediateFor(value: number | undefined): number | undefined {
    return value === undefined ? undefined : encodeUserImmediate(this.#rank, value);
  }

  /** Above the provider's limit: the immediate goes with the last part, when the others are delivered. */
  async #writeInParts(
    from: Slice<FabricBuffer>,
    to: RemoteSlice,
    options: WriteOptions = {},
  ): Promise<void> {
    const { immediate, ...limits } = options;
    const part = this.#limits.maxWriteBytes;
    const offsets = partsOf(from.bytes, part);
    const last = offsets.pop()!;
    const write = (offset: number, how: WriteOptions) =>
      this.write(partAt(from, offset, part), partAt(to, offset, part), how);
    await Promise.all(offsets.map((offset) => write(offset, limits)));
    await write(last, options);
  }
}

const differ = (verb: string, bytes: number, to: string, place: number): Promise<never> =>
  Promise.reject(new TypeError(`cannot ${verb} ${bytes} bytes ${to} a slice of ${place} bytes`));

/** Where the parts of something longer than the provider's limit begin. */
const partsOf = (bytes: number, part: number): number[] =>
  Array.from({ length: Math.ceil(bytes / part) }, (_, i) => i * part);

const partAt = <S extends { offset: number; bytes: number }>(
  slice: S,
  offset: number,
  part: number,
): S => ({
  ...slice,
  offset: slice.offset + offset,
  bytes: Math.min(part, slice.bytes - offset),
});

const verbs: Record<number, string> = {
  [operationKind.write]: 'write to',
  [operationKind.read]: 'read from',
  [operationKind.send]: 'send to',
  [operationKind.recv]: 'receive from',
};

const limited = (options: OperationOptions | undefined): options is OperationOptions =>
  options !== undefined && (options.signal !== undefined || options.timeoutMs !== undefined);

function abortError(signal: AbortSignal): unknown {
  return signal.reason instanceof WeftError
    ? signal.reason
    : new WeftError('ABORTED', 'the operation was aborted', { cause: signal.reason });
}

/** 24.8 days: longer timers of JavaScript fire at once. */
const longestTimerMs = 2 ** 31 - 1;

/**
 * Ends `done` by signal or deadline. `giveUp` is told the error and must make `done` settle or call `reject`; a
 * rejection after that is a consequence, and the error told is the cause.
 */
function withLimits<T>(
  done: Promise<T>,
  options: OperationOptions,
  what: string,
  giveUp: (error: WeftError | unknown, reject: (error: unknown) => void) => void,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let ended: unknown;
    const end = (error: unknown) => {
      ended = error;
      try {
        giveUp(error, finishReject);
      } catch (fault) {
        finishReject(fault);
      }
    };
    const onAbort = () => end(abortError(options.signal!));
    const late = () =>
      end(
        new WeftError('TIMEOUT', `${what} did not complete within ${options.timeoutMs} ms`, {
          hint: 'Check that the peer is alive. If it is only slow, raise `timeoutMs`.',
        }),
      );
    const { timeoutMs } = options;
    const timer =
      timeoutMs === undefined ? undefined : setTimeout(late, Math.min(timeoutMs, longestTimerMs));
    const cleanUp = () => {
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', onAbort);
    };
    const finishReject = (error: unknown) => {
      cleanUp();
      reject(ended ?? error);
    };
    options.signal?.addEventListener('abort', onAbort, { once: true });
    done.then((value) => {
      cleanUp();
      resolve(value);
    }, finishReject);
    if (options.signal?.aborted) onAbort();
  });
}
