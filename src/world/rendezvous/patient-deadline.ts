const stepMs = 500;

/**
 * A time limit that counts only time in which this process ran: while a terminal or a debugger keeps it stopped, nobody
 * is late. `late` is called once, when no time is left.
 */
export class PatientDeadline implements Disposable {
  #leftMs: number;
  #sinceMs = performance.now();
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number, late?: () => void) {
    this.#leftMs = ms;
    this.#wait(late);
  }

  get leftMs(): number {
    return this.#leftMs - this.#passedMs();
  }

  cancel(): void {
    clearTimeout(this.#timer);
  }

  [Symbol.dispose](): void {
    this.cancel();
  }

  /** A step that took much longer than asked for was spent stopped. */
  #passedMs(): number {
    return Math.min(performance.now() - this.#sinceMs, 2 * stepMs);
  }

  #wait(late?: () => void): void {
    this.#timer = setTimeout(
      () => {
        this.#leftMs = this.leftMs;
        this.#sinceMs = performance.now();
        if (this.#leftMs > 0) this.#wait(late);
        else late?.();
      },
      Math.min(Math.max(0, this.#leftMs), stepMs),
    );
  }
}
