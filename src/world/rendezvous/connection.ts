import type { Socket } from 'node:net';
import { WeftError } from '../../errors.js';
import { encodeFrames, FrameError, FrameReader, memberLimits } from './frames.js';

interface ConnectionHandlers {
  /** May throw: the connection is then closed with that error. `body` is the message as it came. */
  message(message: unknown, body: Buffer): void;
  /** Called once. `error` is undefined when the other side ended the connection in order. */
  closed(error: Error | undefined): void;
}

/**
 * One socket that speaks in messages. First messages are awaited one by one (`receive`), for the
 * handshake; after `handle` each is given to the handlers. A broken frame closes this connection only.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #reader = new FrameReader();
  #handlers: ConnectionHandlers | undefined;
  #error: Error | undefined;
  #closed = false;
  #ending = false;
  #wake: (() => void) | undefined;
  /** Monotonic time of the last bytes from the other side. */
  lastHeardMs = performance.now();

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    // The kernel answers keep-alive probes for a stopped process too: only a lost host stays silent.
    socket.setKeepAlive(true, 2000);
    socket.on('data', (bytes) => this.#onData(bytes));
    socket.on('error', (error) => {
      this.#error ??= error;
    });
    socket.on('close', () => {
      this.#closed = true;
      this.#wake?.();
      this.#handlers?.closed(this.#error);
    });
  }

  get peer(): string {
    return this.#socket.remoteAddress ?? 'an unknown address';
  }

  /** The address of this side. */
  get local(): string | undefined {
    return this.#socket.localAddress;
  }

  /** The other side has proved itself: larger messages are accepted from now on. */
  trust(): void {
    this.#reader.limits = memberLimits;
  }

  send(message: unknown): void {
    this.sendEncoded(encodeFrames(message));
  }

  /** Sends what `encodeFrames` made; one encoding serves any number of connections. */
  sendEncoded(frames: Buffer): void {
    if (!this.#closed && this.#socket.writable) this.#socket.write(frames);
  }

  /** The next message, before `handle` is called. Rejects when the connection ends or `timeoutMs` passes. */
  async receive(timeoutMs: number): Promise<unknown> {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const next = this.#next();
      if (next !== undefined) return next.message;
      if (this.#closed || this.#error !== undefined) {
        throw this.#error ?? new Error('the connection was closed');
      }
      const left = deadline - performance.now();
      if (left <= 0)
        throw new WeftError('TIMEOUT', `no answer within ${(timeoutMs / 1000).toFixed(1)} s`);
      await this.#somethingHappens(left);
    }
  }

  handle(handlers: ConnectionHandlers): void {
    this.#handlers = handlers;
    this.#deliver();
    if (this.#closed) handlers.closed(this.#error);
  }

  /** Sends what is queued, then closes. Resolves when the socket is gone, at the latest after `limitMs`. */
  async end(limitMs = 1000): Promise<void> {
    if (this.#closed) return;
    this.#ending = true;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => this.#socket.destroy(), limitMs);
      this.#socket.once('close', () => {
        clearTimeout(timer);
        resolve();
      });
      this.#socket.end();
    });
  }

  destroy(error?: Error): void {
    this.#error ??= error;
    this.#socket.destroy();
  }

  #onData(bytes: Buffer): void {
    this.lastHeardMs = performance.now();
    if (this.#ending || this.#error !== undefined) return; // nobody will read it
    this.#reader.push(bytes);
    if (this.#reader.isOverfull) {
      this.destroy(new FrameError('more bytes than were asked for'));
    } else if (this.#handlers === undefined) {
      // Nobody reads on until the handshake asks: more than one frame ahead of it is not a rank's way.
      this.#wake?.();
    } else {
      this.#deliver();
    }
  }

  #deliver(): void {
    for (;;) {
      const next = this.#next();
      if (next === undefined) return;
      try {
        this.#handlers?.message(next.message, next.body);
      } catch (error) {
        this.destroy(error instanceof Error ? error : new Error(String(error)));
        return;
      }
    }
  }

  #next(): ReturnType<FrameReader['next']> {
    if (this.#error !== undefined || this.#socket.destroyed) return undefined;
    try {
      return this.#reader.next();
    } catch (error) {
      this.destroy(error as Error);
      return undefined;
    }
  }

  #somethingHappens(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#wake = undefined;
        resolve();
      };
      const timer = setTimeout(done, withinMs);
      this.#wake = done;
    });
  }
}
