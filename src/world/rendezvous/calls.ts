import { PatientDeadline } from './patient-deadline.js';

export interface CallOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

interface Call {
  readonly values: Map<number, unknown>;
  resolve(values: Map<number, unknown>): void;
  reject(error: unknown): void;
}

/** Requests of a rank that rank 0 has not answered yet, by their op. */
export class Calls {
  readonly #open = new Map<string, Call>();

  /** Rejects with `late()` when `timeoutMs` passes, with the signal's reason when that aborts. */
  open(
    op: string,
    { timeoutMs, signal }: CallOptions,
    late: () => Error,
  ): Promise<Map<number, unknown>> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const onAbort = () => call.reject(signal?.reason);
      const deadline = new PatientDeadline(timeoutMs, () => call.reject(late()));
      const settle = () => {
        deadline.cancel();
        signal?.removeEventListener('abort', onAbort);
        this.#open.delete(op);
      };
      const call: Call = {
        values: new Map(),
        resolve: (values) => {
          settle();
          resolve(values);
        },
        reject: (error) => {
          settle();
          reject(error);
        },
      };
      this.#open.set(op, call);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  // An op may be unknown below: its caller gave up before the answer came.

  value(op: string, rank: number, value: () => unknown): void {
    this.#open.get(op)?.values.set(rank, value());
  }

  done(op: string): void {
    const call = this.#open.get(op);
    call?.resolve(call.values);
  }

  refuse(op: string, error: unknown): void {
    this.#open.get(op)?.reject(error);
  }

  refuseAll(error: unknown): void {
    for (const call of [...this.#open.values()]) call.reject(error);
  }
}
