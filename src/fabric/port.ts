import { WeftError } from '../errors.js';
import { addon } from '../native/addon.js';
import type { NativePort } from '../native/fabric.js';
import { Arrivals, type Waiting } from './arrivals.js';
import { type Command, commandWords, encodeCommand } from './command.js';
import { calling, fabricError } from './faults.js';

const record = { done: 0, failed: 1, arrived: 2, endpointFailed: 3 } as const;

const recordWords = 4;
const recordCapacity = 256;

/** How long JavaScript may be kept from timers and sockets by polling, and how it polls. */
const sliceMs = 0.5;
const idleMs = 1;
/** Polls in one native call grow up to this, while nobody posts anything between two of them. */
const longSpin = 64;
/** Microtask turns that answers to a completion may take before polling grows. */
const settledTurns = 3;
/** Meanwhile the clock is read only every so many turns. */
const turnsPerLook = 16;

/** An injected message: its buffer may be reused, and nobody asks how long it was. */
const completeAlready = { id: -1, done: Promise.resolve(0) };

/**
 * The promises over a native port. While something is awaited it polls in short native bursts between microtasks,
 * and lets timers and sockets run twice a millisecond; otherwise it looks once a millisecond, because a
 * peer's write may need our progress.
 */
export class PromisePort {
  readonly native: NativePort;
  readonly #command = new Float64Array(commandWords);
  readonly #records = new Uint32Array(recordCapacity * recordWords);
  readonly #operations: (Waiting | undefined)[] = [];
  readonly #arrivals = new Arrivals();
  #awaited = 0;
  #posts = 0;
  #running = false;
  // Of all drives together: short ones that follow each other without a pause must let others in, too.
  #turns = 0;
  #sliceEnd = 0;
  #closed = false;
  #idle: NodeJS.Timeout | undefined;

  constructor() {
    this.native = new (addon().Port)(this.#command, this.#records);
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Starts the idle look-ups; call when the endpoints are open. */
  start(): void {
    this.#idle ??= setTimeout(() => this.#glance(), idleMs).unref();
  }

  /** Ends them until `start`, for whoever must not be disturbed: nobody may write to us meanwhile. */
  stop(): void {
    clearTimeout(this.#idle);
    this.#idle = undefined;
  }

  /** Posts one operation. A receive resolves with its length. `id` is -1 when there is nothing left to cancel. */
  post(command: Command): { id: number; done: Promise<number> } {
    encodeCommand(command, this.#command);
    const id = this.native.post();
    this.#posts++;
    if (id < 0) return completeAlready;
    const done = new Promise<number>((resolve, reject) => {
      this.#operations[id] = { endpoint: command.endpoint, resolve, reject };
    });
    this.#await();
    return { id, done };
  }

  /** Ends an operation early where the provider can: its promise rejects. False where it cannot. */
  cancel(id: number): boolean {
    return this.#operations[id] === undefined || calling(() => this.native.cancel(id));
  }

  /**
   * Stops waiting for an operation that cannot be recalled. One that never left is taken back; another ends unseen,
   * and its region stays in use until then.
   */
  abandon(id: number, error: unknown): void {
    this.cancel(id);
    this.#settle(id)?.reject(error);
  }

  /** Consumes one arrival of an immediate on an endpoint. `forget` is false when it has come already. */
  arrival(endpoint: number, data: number): { done: Promise<void>; forget: () => boolean } {
    if (this.#closed) throw new WeftError('CLOSED', 'the fabric is closed');
    if (this.#arrivals.takeEarly(endpoint, data)) {
      return { done: Promise.resolve(), forget: () => false };
    }
    let waiter!: Waiting;
    const done = new Promise<void>((resolve, reject) => {
      waiter = { endpoint, resolve: () => resolve(), reject };
    });
    this.#arrivals.wait(data, waiter);
    this.#await();
    const forget = () => {
      if (!this.#arrivals.forget(data, waiter)) return false;
      this.#awaited--;
      return true;
    };
    return { done, forget };
  }

  /** Runs a plan. Until that settles its thread alone touches the endpoints, and every other call rejects with BUSY. */
  async drive<T>(run: (native: NativePort) => Promise<T>): Promise<T> {
    this.stop();
    try {
      return await run(this.native);
    } catch (error) {
      throw fabricError(error);
    } finally {
      if (!this.#closed) this.start();
    }
  }

  /** Rejects everything that is awaited, then closes the endpoints. */
  close(): void {
    if (this.#closed) return;
    const closed = calling(() => this.native.close()); // refuses while a plan runs
    if (!closed)
      process.emitWarning('libfabric did not close its endpoints in time', 'WeftWarning');
    this.#closed = true;
    this.stop();
    this.#failWhere(new WeftError('CLOSED', 'the fabric was closed during this operation'));
  }

  #await(): void {
    this.#awaited++;
    if (this.#running) return;
    this.#running = true;
    void this.#drive();
  }

  async #drive(): Promise<void> {
    let quietTurns = 0;
    let spins = 1;
    let posts = this.#posts;
    try {
      while (this.#awaited > 0 && !this.#closed) {
        if (quietTurns <= settledTurns) spins = 1;
        else if (spins < longSpin) spins *= 2;
        const count = this.native.poll(spins);
        if (count > 0) this.#tell(count);
        quietTurns = count > 0 || posts !== this.#posts ? 0 : quietTurns + 1;
        posts = this.#posts;
        this.#turns++;
        const look = spins === longSpin || this.#turns % turnsPerLook === 0;
        if (look && performance.now() > this.#sliceEnd) {
          await new Promise(setImmediate);
          this.#sliceEnd = performance.now() + sliceMs;
        } else {
          await undefined;
        }
      }
    } catch (error) {
      this.#failWhere(fabricError(error));
    } finally {
      this.#running = false;
      if (!this.#closed) this.start();
    }
  }

  #glance(): void {
    this.#idle = undefined;
    if (this.#running || this.#closed) return; // the end of the drive starts it again: a timer costs 10 µs a turn
    this.start();
    try {
      const count = this.native.poll(longSpin);
      if (count > 0) this.#tell(count);
    } catch {
      // a plan drives the endpoints just now
    }
  }

  #tell(count: number): void {
    const records = this.#records;
    for (let i = 0; i < count * recordWords; i += recordWords) {
      const kind = records[i]!;
      const id = records[i + 1]!;
      const low = records[i + 2]!;
      const high = records[i + 3]!;
      if (kind === record.done) this.#settle(id)?.resolve(high * 2 ** 32 + low);
      else if (kind === record.failed) this.#settle(id)?.reject(this.#fault(low, high));
      else if (kind === record.arrived) this.#arrive(id, low);
      else this.#failEndpoint(id, this.#fault(low, high));
    }
  }

  #settle(id: number): Waiting | undefined {
    const operation = this.#operations[id];
    if (!operation) return undefined; // given up earlier
    this.#operations[id] = undefined;
    this.#awaited--;
    return operation;
  }

  #arrive(endpoint: number, data: number): void {
    const waiter = this.#arrivals.arrive(endpoint, data);
    if (!waiter) return; // early: remembered
    this.#awaited--;
    waiter.resolve(0);
  }

  #fault(code: number, textKey: number): WeftError {
    const text = this.native.takeText(textKey) ?? `error ${code}`;
    return new WeftError('FABRIC_FAULT', `the transfer failed: ${text}`, {
      hint: 'Run with FI_LOG_LEVEL=warn to see the log of libfabric.',
      cause: Object.assign(new Error(text), { operation: 'transfer', code, text }),
    });
  }

  /** A fault that names no operation ends whatever was awaited on that endpoint. */
  #failEndpoint(endpoint: number, error: WeftError): void {
    this.#failWhere(error, (waiting) => waiting.endpoint === endpoint);
  }

  #failWhere(error: unknown, which: (waiting: Waiting) => boolean = () => true): void {
    for (const [id, operation] of this.#operations.entries()) {
      if (operation && which(operation)) this.#settle(id)?.reject(error);
    }
    for (const waiter of this.#arrivals.takeWhere(which)) {
      this.#awaited--;
      waiter.reject(error);
    }
  }
}
