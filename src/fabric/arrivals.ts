/** Somebody to be told how it ended, on one endpoint. */
export interface Waiting {
  readonly endpoint: number;
  resolve(bytes: number): void;
  reject(error: unknown): void;
}

interface Entry {
  early: number;
  waiters: Waiting[];
}

/** Immediates by endpoint and value: those that nobody has waited for yet, and those that have not come yet. */
export class Arrivals {
  readonly #entries = new Map<number, Entry>();

  /** Consumes an arrival that came before anybody asked; false when there is none. */
  takeEarly(endpoint: number, data: number): boolean {
    const entry = this.#entry(endpoint, data);
    if (entry.early === 0) return false;
    entry.early--;
    return true;
  }

  /** Queues behind those who wait for the same. */
  wait(data: number, waiter: Waiting): void {
    this.#entry(waiter.endpoint, data).waiters.push(waiter);
  }

  /** False when the waiter was served already. */
  forget(data: number, waiter: Waiting): boolean {
    const { waiters } = this.#entry(waiter.endpoint, data);
    const index = waiters.indexOf(waiter);
    if (index < 0) return false;
    waiters.splice(index, 1);
    return true;
  }

  /** One arrival: the waiter it serves, or undefined when it is kept for later. */
  arrive(endpoint: number, data: number): Waiting | undefined {
    const entry = this.#entry(endpoint, data);
    const waiter = entry.waiters.shift();
    if (!waiter) entry.early++;
    return waiter;
  }

  /** Removes the waiters that `which` picks, and returns them. */
  takeWhere(which: (waiting: Waiting) => boolean): Waiting[] {
    const taken: Waiting[] = [];
    for (const entry of this.#entries.values()) {
      taken.push(...entry.waiters.filter(which));
      entry.waiters = entry.waiters.filter((waiting) => !which(waiting));
    }
    return taken;
  }

  #entry(endpoint: number, data: number): Entry {
    const key = endpoint * 2 ** 32 + data;
    let entry = this.#entries.get(key);
    if (!entry) {
      entry = { early: 0, waiters: [] };
      this.#entries.set(key, entry);
    }
    return entry;
  }
}
