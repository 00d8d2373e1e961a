/** How a try with a set of nodes ended; `unresolved` where the command could not run at all. */
export type TryOutcome = 'passed' | 'failed' | 'hung' | 'unresolved';

/** A smallest set of nodes that fails, and who of it is to blame. */
export interface Culprit {
  /** No smaller part of it fails, as far as the tries went. */
  readonly nodes: readonly string[];
  /**
   * `alone`: each of `blamed` fails with healthy nodes, too. `together`: each passes with healthy nodes; only all of
   * `blamed` together fail. `any`: other sets of as many nodes fail as well, so the number of nodes is to blame.
   * `undecided`: too few healthy nodes or tries were left to tell.
   */
  readonly kind: 'alone' | 'together' | 'any' | 'undecided';
  readonly blamed: readonly string[];
}

export interface Isolation {
  /** `clean`: all nodes together pass. `found`: without those blamed the rest passes. `partly`: tries ran out. */
  readonly outcome: 'clean' | 'found' | 'partly' | 'unresolved';
  readonly culprits: readonly Culprit[];
  /** The largest set that passed, without those blamed; empty where none did. */
  readonly healthy: readonly string[];
}

/** Runs the job on some nodes. */
export type Try = (nodes: readonly string[]) => Promise<TryOutcome>;

export interface SearchLimits {
  readonly tries: number;
  /** The command needs as many nodes; smaller sets are not tried and count as passed. */
  readonly minNodes: number;
}

/** Sets apart from a culprit that are tried to find healthy nodes. */
const mostControls = 4;

class OutOfTries extends Error {}

/** Finds the smallest failing sets of nodes. Assumes that a set fails if a part of it does. */
export class Search {
  readonly #try: Try;
  readonly #limits: SearchLimits;
  readonly #all: readonly string[];
  readonly #known = new Map<string, { nodes: readonly string[]; outcome: TryOutcome }>();
  #left: number;

  constructor(nodes: readonly string[], attempt: Try, limits: SearchLimits) {
    this.#all = nodes;
    this.#try = attempt;
    this.#limits = limits;
    this.#left = limits.tries;
  }

  async run(): Promise<Isolation> {
    const culprits: Culprit[] = [];
    let rest = this.#all;
    try {
      while (rest.length >= this.#limits.minNodes && (await this.#fails(rest))) {
        const nodes = this.#inOrder(await this.#smallest([], false, rest));
        const others = rest.filter((node) => !nodes.includes(node));
        const culprit = await this.#blame(nodes, others).catch((error) => {
          if (error instanceof OutOfTries) return undecided(nodes);
          throw error;
        });
        culprits.push(culprit);
        rest = rest.filter((node) => !culprit.blamed.includes(node));
        if (culprit.kind === 'any') break;
      }
    } catch (error) {
      if (!(error instanceof OutOfTries)) throw error;
      return this.#conclude('partly', this.#withSmallest(culprits));
    }
    if (culprits.length > 0) return this.#conclude('found', culprits);
    const whole = this.#known.get(keyOf(this.#all))?.outcome;
    return this.#conclude(whole === 'passed' ? 'clean' : 'unresolved', []);
  }

  /** Where tries ran out during a search, the smallest set that failed is what there is. */
  #withSmallest(culprits: readonly Culprit[]): Culprit[] {
    const blamed = culprits.flatMap((one) => one.blamed);
    const failed = [...this.#known.values()]
      .filter(({ outcome }) => isFailure(outcome))
      .map(({ nodes }) => nodes)
      .filter((nodes) => !nodes.some((node) => blamed.includes(node)))
      .sort((a, b) => a.length - b.length);
    return failed[0] === undefined ? [...culprits] : [...culprits, undecided(failed[0])];
  }

  #conclude(outcome: Isolation['outcome'], culprits: readonly Culprit[]): Isolation {
    const blamed = culprits.flatMap((one) => one.blamed);
    const passed = [...this.#known.values()]
      .filter((one) => one.outcome === 'passed' && !one.nodes.some((n) => blamed.includes(n)))
      .sort((a, b) => b.nodes.length - a.nodes.length);
    return { outcome, culprits, healthy: passed[0]?.nodes ?? [] };
  }

  /**
   * A smallest part of `candidates` that fails together with `background`: each half is searched with the other half
   * present (QuickXplain). About 2 × k × log(n / k) tries for k nodes out of n.
   */
  async #smallest(
    background: readonly string[],
    grown: boolean,
    candidates: readonly string[],
  ): Promise<string[]> {
    if (grown && (await this.#fails(background))) return [];
    if (candidates.length === 1) return [...candidates];
    const middle = Math.floor(candidates.length / 2);
    const [first, second] = [candidates.slice(0, middle), candidates.slice(middle)];
    const inSecond = await this.#smallest([...background, ...first], true, second);
    const inFirst = await this.#smallest([...background, ...inSecond], inSecond.length > 0, first);
    return [...inFirst, ...inSecond];
  }

  /** Tries each node of the set with healthy ones: those of a control that passes without any of the set. */
  async #blame(nodes: readonly string[], others: readonly string[]): Promise<Culprit> {
    const size = nodes.length;
    if (size === 1) return { nodes, kind: 'alone', blamed: nodes };
    const helpers = await this.#helpers(others, size);
    if (helpers === 'any') return { nodes, kind: 'any', blamed: [] };
    if (helpers.length < size - 1) return undecided(nodes);
    const alone: string[] = [];
    for (const node of nodes) {
      if (await this.#fails([node, ...helpers.slice(0, size - 1)])) alone.push(node);
    }
    if (alone.length > 0) return { nodes, kind: 'alone', blamed: alone };
    const essential: string[] = [];
    for (const node of nodes) {
      const swapped = [...nodes.filter((one) => one !== node), helpers[0]!];
      if (!(await this.#fails(swapped))) essential.push(node);
    }
    return { nodes, kind: 'together', blamed: essential.length > 0 ? essential : nodes };
  }

  /** Nodes that pass together, as many as a culprit has, or one less where there are no more. */
  async #helpers(others: readonly string[], size: number): Promise<readonly string[] | 'any'> {
    const candidates = this.#healthiest(others);
    if (candidates.length < size) return candidates;
    const controls = Math.min(mostControls, Math.floor(candidates.length / size));
    for (let i = 0; i < controls; i++) {
      const control = candidates.slice(i * size, (i + 1) * size);
      if (!(await this.#fails(control))) return control;
    }
    // Where the smallest sets fail already, each of them may have a bad node in it.
    return controls > 1 && size > this.#limits.minNodes ? 'any' : [];
  }

  /** Those of the largest set that passed first. */
  #healthiest(nodes: readonly string[]): string[] {
    const passed = [...this.#known.values()].filter(({ outcome }) => outcome === 'passed');
    const largest = (node: string) =>
      Math.max(0, ...passed.filter((one) => one.nodes.includes(node)).map((o) => o.nodes.length));
    return [...nodes].sort((a, b) => largest(b) - largest(a));
  }

  async #fails(some: readonly string[]): Promise<boolean> {
    if (some.length < this.#limits.minNodes) return false;
    const nodes = this.#inOrder(some);
    const key = keyOf(nodes);
    const known = this.#known.get(key);
    if (known) return isFailure(known.outcome);
    if (this.#left-- <= 0) throw new OutOfTries();
    const outcome = await this.#try(nodes);
    this.#known.set(key, { nodes, outcome });
    return isFailure(outcome);
  }

  /** A set is always tried in the order in which the nodes were given. */
  #inOrder(some: readonly string[]): string[] {
    return this.#all.filter((node) => some.includes(node));
  }
}

const isFailure = (outcome: TryOutcome): boolean => outcome === 'failed' || outcome === 'hung';
const keyOf = (nodes: readonly string[]): string => nodes.join(',');
const undecided = (nodes: readonly string[]): Culprit => ({
  nodes,
  kind: 'undecided',
  blamed: nodes,
});
