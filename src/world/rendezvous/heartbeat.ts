import type { Connection } from './connection.js';

/**
 * Beats at an interval and tells how long a connection has been silent. If this process itself was stopped
 * (SIGSTOP, a debugger, a suspended host), its late beat proves nothing about others: silence is counted
 * from the moment it runs again.
 */
export class PauseAwareClock {
  readonly #timer: NodeJS.Timeout;
  #lastBeatMs = performance.now();
  #awakeSinceMs = 0;

  constructor(intervalMs: number, beat: (silentMs: (connection: Connection) => number) => void) {
    this.#timer = setInterval(() => {
      const now = performance.now();
      if (now - this.#lastBeatMs > 2 * intervalMs + 100) this.#awakeSinceMs = now;
      this.#lastBeatMs = now;
      beat((connection) => now - Math.max(connection.lastHeardMs, this.#awakeSinceMs));
    }, intervalMs);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
