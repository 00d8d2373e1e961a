import type { LinkWatch, SeenDown } from './link-watch.js';

/** A time in which this process did not run: it was stopped, or other processes had the cores. */
export interface Pause {
  readonly atMs: number;
  readonly milliseconds: number;
}

const periodMs = 100;
const mostKept = 64;

/**
 * Looks ten times a second at this host's links and at whether this process itself runs: a timer that is late by
 * `pauseMs` or more means that it did not.
 */
export class Pulse implements Disposable {
  readonly #links: LinkWatch | undefined;
  readonly #pauseMs: number;
  readonly #timer: NodeJS.Timeout;
  #last = performance.now();
  #pauses: Pause[] = [];

  constructor(links: LinkWatch | undefined, pauseMs: number) {
    this.#links = links;
    this.#pauseMs = pauseMs;
    this.#timer = setInterval(() => this.#beat(), periodMs).unref();
  }

  /** What was seen since the last call, with times from `sinceMs` on `performance.now()`. */
  take(sinceMs: number): { links: SeenDown[]; pauses: Pause[] } {
    this.#beat();
    const from = <T extends Pause | SeenDown>(seen: T): T => ({
      ...seen,
      atMs: seen.atMs - sinceMs,
    });
    const pauses = this.#pauses.map(from);
    this.#pauses = [];
    return { links: (this.#links?.take() ?? []).map(from), pauses };
  }

  /** Links that are down now. */
  down(sinceMs: number): SeenDown[] {
    return (this.#links?.down() ?? []).map((seen) => ({ ...seen, atMs: seen.atMs - sinceMs }));
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #beat(): void {
    const now = performance.now();
    const late = now - this.#last - periodMs;
    if (late >= this.#pauseMs && this.#pauses.length < mostKept) {
      this.#pauses.push({ atMs: this.#last, milliseconds: late });
    }
    this.#last = now;
    this.#links?.look(now);
  }
}
