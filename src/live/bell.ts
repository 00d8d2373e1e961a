/** Wakes everyone who waits, and remembers that it rang: who comes late with an old count does not wait. */
export class Bell {
  count = 0;
  readonly #waiting = new Set<() => void>();

  ring(): void {
    this.count++;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }

  /** Resolves when the count differs from `seen`, after `timeoutMs`, or when `signal` aborts; true if it rang. */
  rung(seen: number, timeoutMs: number, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      if (this.count !== seen || signal.aborted) {
        resolve(this.count !== seen);
        return;
      }
      const end = () => {
        clearTimeout(timer);
        this.#waiting.delete(end);
        signal.removeEventListener('abort', end);
        resolve(this.count !== seen);
      };
      const timer = setTimeout(end, timeoutMs);
      this.#waiting.add(end);
      signal.addEventListener('abort', end, { once: true });
    });
  }
}
