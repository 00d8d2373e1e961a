import { readFileSync } from 'node:fs';
import type { Pace } from '../../results/finding.js';

const tickMs = 1;
/** Later than this is late: timers are not exact. */
const toleranceMs = 1;

const nothing = (): Omit<Pace, 'rank'> => ({ wallMs: 0, lostMs: 0, queuedMs: 0, longestMs: 0 });

/**
 * Watches whether this process runs, while its JavaScript has nothing to do but wait for a plan: a timer that should
 * fire every millisecond tells how long it did not. A process that is stopped, frozen or swapped out sees its own
 * clock jump; one that waits for a core is told apart by the kernel's count of that.
 */
export class OwnPace {
  readonly #rank: number;
  #last = 0;
  #seen = nothing();

  constructor(rank: number) {
    this.#rank = rank;
  }

  async during<T>(work: () => Promise<T>): Promise<T> {
    const started = performance.now();
    const queued = queuedMs();
    this.#last = started;
    const timer = setInterval(() => this.#look(), tickMs);
    try {
      return await work();
    } finally {
      clearInterval(timer);
      this.#look();
      this.#seen.wallMs += this.#last - started;
      const now = queuedMs();
      const known = this.#seen.queuedMs !== null && now !== undefined && queued !== undefined;
      this.#seen.queuedMs = known ? this.#seen.queuedMs! + now - queued : null;
    }
  }

  #look(): void {
    const now = performance.now();
    const late = now - this.#last - tickMs - toleranceMs;
    this.#last = now;
    if (late <= 0) return;
    this.#seen.lostMs += late;
    this.#seen.longestMs = Math.max(this.#seen.longestMs, late);
  }

  take(): Pace {
    const pace = { rank: this.#rank, ...this.#seen };
    this.#seen = nothing();
    return pace;
  }
}

/** How long this thread was ready to run and no core was free, since it began. */
function queuedMs(): number | undefined {
  try {
    const [, waited] = readFileSync('/proc/self/schedstat', 'utf8').split(' ');
    return waited === undefined ? undefined : Number(waited) / 1e6;
  } catch {
    return undefined; // a kernel without CONFIG_SCHED_INFO
  }
}
