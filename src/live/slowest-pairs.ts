import { pairColumns } from '../results/column-name.js';
import { blockOf } from '../results/large-matrix.js';
import { isInMatrix } from '../results/row-kinds.js';
import type { GlanceRow } from '../results/run-glance.js';
import type { Run } from '../results/schema.js';

interface Slowest {
  line: number;
  nanoseconds: number;
}

/**
 * Which lines of a run with a large matrix a page gets: of its pairs, the slowest of each block of ranks so far; of the
 * rest, all. A block's slowest pair that a slower one replaces has been sent or never is.
 */
export class SlowestPairs {
  readonly #block: number;
  readonly #others: number[] = [];
  readonly #blocks = new Map<string, Slowest>();
  #sorted: number[] | undefined;

  constructor(world: Run['world']) {
    this.#block = blockOf(world);
  }

  take(line: number, row: GlanceRow | undefined): void {
    const { from, to, rail } = row?.labels ?? {};
    if (!row || !isInMatrix(row) || row.column === pairColumns.rail) this.#others.push(line);
    else if (from === undefined || to === undefined) this.#others.push(line);
    else {
      const [y, x] = [Math.floor(from / this.#block), Math.floor(to / this.#block)];
      const key = `${row.column} ${rail ?? ''} ${y} ${x}`;
      // What failed is shown in any case.
      const nanoseconds = row.outcome === 'passed' ? (row.nanoseconds?.p50 ?? 0) : Infinity;
      const slowest = this.#blocks.get(key);
      if (slowest === undefined) this.#blocks.set(key, { line, nanoseconds });
      else if (nanoseconds > slowest.nanoseconds) Object.assign(slowest, { line, nanoseconds });
      else return;
    }
    this.#sorted = undefined;
  }

  /** The first of them from line `from` on, at most `most`. */
  after(from: number, most: number): number[] {
    this.#sorted ??= [...this.#others, ...[...this.#blocks.values()].map(({ line }) => line)].sort(
      (a, b) => a - b,
    );
    const first = this.#sorted.findIndex((line) => line >= from);
    return first === -1 ? [] : this.#sorted.slice(first, first + most);
  }
}
