import { MaxMin } from './max-min.js';

/** Less than this of a byte is rounding. */
const nothingBytes = 1e-3;

interface Waiting {
  /** What each flow of the group has carried when a flow is done, in order; with the flow's number. */
  readonly doneAt: number[];
  readonly flows: number[];
  first: number;
}

/**
 * Flows over links with max-min fair rates, over time. Flows of a group (the same links) have the same rate at any
 * moment, so a group keeps one count of bytes carried per flow; a flow ends when that count has grown by its size.
 */
export class FlowNetwork {
  #now = 0;
  #stale = false;
  readonly #fair: MaxMin;
  readonly #carried: Float64Array;
  readonly #waiting: readonly Waiting[];
  /** Groups with flows. */
  #active: number[] = [];

  /** Capacities in bytes per nanosecond; `paths` has the links of each group. */
  constructor(capacities: Float64Array, paths: readonly (readonly number[])[]) {
    this.#fair = new MaxMin(capacities, paths);
    this.#carried = new Float64Array(paths.length);
    this.#waiting = paths.map(() => ({ doneAt: [], flows: [], first: 0 }));
  }

  /** A flow that starts now. */
  start(flow: number, group: number, bytes: number): void {
    const { doneAt, flows, first } = this.#waiting[group]!;
    const done = this.#carried[group]! + bytes;
    let at = doneAt.length;
    doneAt.push(done);
    flows.push(flow);
    for (; at > first && doneAt[at - 1]! > done; at--) {
      [doneAt[at], flows[at]] = [doneAt[at - 1]!, flows[at - 1]!];
    }
    [doneAt[at], flows[at]] = [done, flow];
    if (this.#fair.weights[group] === 0) this.#active.push(group);
    this.#fair.weights[group]! += 1;
    this.#stale = true;
  }

  /** When the next flow ends if none starts before; infinite without any. */
  nextEnd(): number {
    this.#settle();
    let least = Number.POSITIVE_INFINITY;
    for (const group of this.#active) least = Math.min(least, this.#timeLeft(group));
    return this.#now + least;
  }

  /**
   * Moves on to `time`; tells of every flow that ended on the way, with the time of its end. What these flows leave
   * free goes to the others from `time` on: where ends must count at once, `time` is at most `nextEnd()`.
   */
  advance(time: number, ended: (flow: number, at: number) => void): void {
    this.#settle();
    const passed = time - this.#now;
    for (const group of this.#active) {
      const rate = this.#fair.rates[group]!;
      const before = this.#carried[group]!;
      const after = before + rate * passed;
      const waiting = this.#waiting[group]!;
      while (waiting.first < waiting.doneAt.length) {
        const done = waiting.doneAt[waiting.first]!;
        if (done > after + nothingBytes) break;
        ended(waiting.flows[waiting.first]!, this.#now + Math.max(0, (done - before) / rate));
        waiting.first++;
        this.#fair.weights[group]! -= 1;
        this.#stale = true;
      }
      this.#carried[group] = after;
    }
    this.#active = this.#active.filter((group) => this.#fair.weights[group]! > 0);
    this.#now = time;
  }

  #timeLeft(group: number): number {
    const { doneAt, first } = this.#waiting[group]!;
    const rate = this.#fair.rates[group]!;
    const left = Math.max(0, doneAt[first]! - this.#carried[group]!);
    return left <= nothingBytes ? 0 : left / rate;
  }

  #settle(): void {
    if (this.#stale) this.#fair.solve();
    this.#stale = false;
  }
}
