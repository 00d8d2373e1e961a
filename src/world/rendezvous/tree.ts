/** How many ranks get from one what all ranks get. */
export const defaultFanOut = 32;

/** Who passes on to whom what all ranks get: rank 0 is the root, and rank r has the ranks from r × fan-out + 1. */
export class Tree {
  readonly #size: number;
  readonly #fanOut: number;

  constructor(size: number, fanOut = defaultFanOut) {
    if (!(Number.isInteger(fanOut) && fanOut > 0)) {
      throw new TypeError(`fanOut must be a whole number from 1 up, not ${fanOut}`);
    }
    this.#size = size;
    this.#fanOut = fanOut;
  }

  /** False where rank 0 is next to everyone. */
  get hasRelays(): boolean {
    return this.#size > this.#fanOut + 1;
  }

  /** The relay of a rank; undefined where that is rank 0. */
  parentOf(rank: number): number | undefined {
    const parent = Math.floor((rank - 1) / this.#fanOut);
    return parent > 0 ? parent : undefined;
  }

  /** The ranks that a relay serves; rank 0 is none. */
  childrenOf(rank: number): number[] {
    const first = rank * this.#fanOut + 1;
    const count = rank === 0 ? 0 : Math.max(0, Math.min(this.#fanOut, this.#size - first));
    return Array.from({ length: count }, (_, i) => first + i);
  }

  /** How many connections a rank has with others than rank 0. */
  linksOf(rank: number): number {
    return this.childrenOf(rank).length + (this.parentOf(rank) === undefined ? 0 : 1);
  }
}
