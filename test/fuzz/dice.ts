import { seededRandom, seedOf } from '../../src/measure/seeded-random.js';

/** Choices that are the same for the same seed. */
export class Dice {
  readonly #random: () => number;

  /** Of one input: the seed of the whole run, and the input's number. */
  constructor(seed: number, index: number) {
    this.#random = seededRandom(seedOf(seed, index));
  }

  /** 0 … count − 1. */
  below(count: number): number {
    return Math.floor(this.#random() * count);
  }

  /** Small numbers are likely, large ones happen. */
  length(most: number): number {
    return this.below(1 + this.below(1 + this.below(most + 1)));
  }

  chance(share: number): boolean {
    return this.#random() < share;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }
}
