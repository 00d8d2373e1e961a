import type { Send } from './collectives.js';
import { encodeFrames } from './frames.js';
import type { Request } from './messages.js';
import { type Roster, seconds } from './roster.js';

interface Waiter {
  readonly rank: number;
  readonly op: string;
  readonly timer: NodeJS.Timeout;
}

/** Rank 0's key/value store: `get` waits until some rank has `put`; a second `put` replaces the first. */
export class Store {
  readonly #roster: Roster;
  readonly #send: Send;
  readonly #values = new Map<string, unknown>();
  readonly #waiting = new Map<string, Set<Waiter>>();

  constructor(roster: Roster, send: Send) {
    this.#roster = roster;
    this.#send = send;
  }

  put(rank: number, { op, key, value }: Extract<Request, { t: 'put' }>): void {
    this.#values.set(key, value);
    this.#roster.did(rank, `put "${key}"`);
    this.#send(rank, encodeFrames({ t: 'done', op }));
    for (const waiter of this.#waiting.get(key) ?? []) {
      clearTimeout(waiter.timer);
      this.#answer(waiter.rank, waiter.op, key);
    }
    this.#waiting.delete(key);
  }

  get(rank: number, { op, key, timeoutMs }: Extract<Request, { t: 'get' }>): void {
    if (this.#values.has(key)) {
      this.#answer(rank, op, key);
      return;
    }
    this.#roster.did(rank, `asked for "${key}"`);
    const waiters = this.#waiting.get(key) ?? new Set<Waiter>();
    this.#waiting.set(key, waiters);
    const timer = setTimeout(() => {
      waiters.delete(waiter);
      this.#refuse(rank, op, key, timeoutMs);
    }, timeoutMs);
    const waiter: Waiter = { rank, op, timer };
    waiters.add(waiter);
  }

  close(): void {
    for (const waiters of this.#waiting.values()) {
      for (const { timer } of waiters) clearTimeout(timer);
    }
    this.#waiting.clear();
  }

  #answer(rank: number, op: string, key: string): void {
    this.#roster.did(rank, `got "${key}"`);
    const value = encodeFrames({ t: 'value', op, rank: 0, value: this.#values.get(key) });
    this.#send(rank, Buffer.concat([value, encodeFrames({ t: 'done', op })]));
  }

  /** Any other rank may have been the one to put it, so all of them are named. */
  #refuse(rank: number, op: string, key: string, timeoutMs: number): void {
    const others = this.#roster.members.map((m) => m.rank).filter((other) => other !== rank);
    const message =
      `get "${key}" timed out after ${seconds(timeoutMs)}: no rank has put it; ` +
      this.#roster.describe(others);
    this.#send(rank, encodeFrames({ t: 'refused', op, failure: { code: 'TIMEOUT', message } }));
  }
}
