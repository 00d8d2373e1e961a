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
    const { weights, rates } = this;
    const load = this.#load.fill(0);
    this.#left.set(this.#capacities);
    for (const [group, path] of this.#paths.entries()) {
      rates[group] = 0;
      if (weights[group] === 0) continue;
      for (const link of path) load[link]! += weights[group]!;
    }
    let open = load.reduce<number[]>((links, one, link) => {
      if (one > 0) links.push(link);
      return links;
    }, []);
    while (open.length > 0) {
      const share = this.#leastShare(open);
      // Links that fill up together are settled together: rounding must not split them.
      const full = open.filter((link) => this.#shareOf(link) <= share * (1 + 1e-12));
      for (const link of full) this.#settle(link, share);
      open = open.filter((link) => load[link]! > 0);
    }
  }

  #shareOf(link: number): number {
    return this.#left[link]! / this.#load[link]!;
  }

  #leastShare(links: readonly number[]): number {
    let least = Number.POSITIVE_INFINITY;
    for (const link of links) least = Math.min(least, this.#shareOf(link));
    return Math.max(0, least);
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
