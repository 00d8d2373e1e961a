import { EventQueue } from './event-queue.js';

/**
 * Max-min fair rates by progressive filling. Flows over the same links form a group and get the same rate, so the work
 * grows with the number of groups, not of flows.
 */
export class MaxMin {
  /** Active flows of each group. The caller sets them. */
  readonly weights: Float64Array;
  /** Of each flow of a group, in the unit of the capacities; valid after `solve`. */
  readonly rates: Float64Array;
  readonly #capacities: Float64Array;
  readonly #paths: readonly (readonly number[])[];
  readonly #groupsOfLink: readonly (readonly number[])[];
  readonly #left: Float64Array;
  readonly #load: Float64Array;

  /** `paths` has the links of each group, one at least. Capacities are above 0. */
  constructor(capacities: Float64Array, paths: readonly (readonly number[])[]) {
    this.#capacities = capacities;
    this.#paths = paths;
    this.weights = new Float64Array(paths.length);
    this.rates = new Float64Array(paths.length);
    this.#left = new Float64Array(capacities.length);
    this.#load = new Float64Array(capacities.length);
    const groupsOfLink: number[][] = Array.from({ length: capacities.length }, () => []);
    for (const [group, path] of paths.entries()) {
      for (const link of path) groupsOfLink[link]!.push(group);
    }
    this.#groupsOfLink = groupsOfLink;
  }

  solve(): void {
    const load = this.#addLoads();
    const left = this.#left;
    left.set(this.#capacities);
    // A link's share only grows while flows elsewhere are settled: one that has grown goes back into the queue.
    const queue = new EventQueue();
    for (let link = 0; link < load.length; link++) {
      if (load[link]! > 0) queue.push(left[link]! / load[link]!, link);
    }
    while (queue.nextTime !== Number.POSITIVE_INFINITY) {
      const least = queue.nextTime;
      const link = queue.pop();
      if (load[link] === 0) continue;
      const share = Math.max(0, left[link]! / load[link]!);
      if (share > least * (1 + 1e-12)) queue.push(share, link);
      else this.#settle(link, share);
    }
  }

  #addLoads(): Float64Array {
    const load = this.#load.fill(0);
    this.rates.fill(0);
    for (let group = 0; group < this.#paths.length; group++) {
      const weight = this.weights[group]!;
      if (weight === 0) continue;
      for (const link of this.#paths[group]!) load[link]! += weight;
    }
    return load;
  }

  /** Gives every open group on this link its final rate. */
  #settle(link: number, share: number): void {
    for (const group of this.#groupsOfLink[link]!) {
      const weight = this.weights[group]!;
      if (weight === 0 || this.rates[group]! > 0) continue;
      this.rates[group] = share;
      for (const passed of this.#paths[group]!) {
        this.#left[passed]! -= share * weight;
        this.#load[passed]! -= weight;
      }
    }
  }
}
