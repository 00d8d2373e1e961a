import type { Dice } from './dice.js';

/** Something that takes input from outside. It lives in a process of its own, so a crash is a finding. */
export interface Target {
  readonly name: string;
  /** Of a thousand inputs, how many are for this target. */
  readonly share: number;
  /** Before the first input. Resolves with what ends it. */
  readonly open?: () => Promise<() => unknown>;
  /** An input; the same for the same dice. */
  make(dice: Dice): Input;
}

export interface Input {
  /** As it is written to a file when it is a finding. */
  readonly shown: string | Uint8Array;
  /** Does what the product does with it. Throws or rejects where the product refuses it. */
  run(): unknown;
  /** Whether this refusal is one that the product makes on purpose. */
  isRefusal(error: unknown): boolean;
}
