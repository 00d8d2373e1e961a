import type { Plan, Step } from '../plan.js';
import type { Block } from '../traffic.js';
import { placePieces, planFor, type WritePlanOptions, waitFor, writeOf } from '../write-plan.js';
import {
  arrivals,
  batchesOf,
  comebacks,
  dispatches,
  inSlices,
  returns,
  slicesOf,
  sumParts,
} from './moe.js';
import type { MoeLayout } from './moe-layout.js';

export interface MoePlanOptions extends WritePlanOptions {
  /** A micro-batch is dispatched when the one before has arrived; otherwise when its sums are made. */
  readonly overlap: boolean;
}

/**
 * One rank's part of an expert layer. Vectors go back when all tokens of the micro-batch have arrived, as the experts
 * that made them would need all; each slice is added up as soon as it has come back.
 */
export function moePlan(layout: MoeLayout, options: MoePlanOptions): Plan {
  const steps = new MoeSteps(layout, options);
  for (const batch of batchesOf(layout)) steps.add(batch);
  return planFor(layout, options, steps.all);
}

class MoeSteps {
  readonly all: Step[] = [];
  readonly #layout: MoeLayout;
  readonly #options: MoePlanOptions;
  /** What the next micro-batch waits for. */
  #before: readonly number[] = [];

  constructor(layout: MoeLayout, options: MoePlanOptions) {
    this.#layout = layout;
    this.#options = options;
  }

  add(batch: number): void {
    const { rank, overlap } = this.#options;
    const begin = this.all.length;
    this.#write(inSlices(this.#layout, rank, batch, dispatches), this.#before);
    const waits = this.#wait(inSlices(this.#layout, rank, batch, arrivals));
    const arrived = this.#join([...this.#before, ...waits]);
    if (this.#layout.layer.phase !== 'dispatch') this.#combine(batch, arrived);
    this.#before = overlap ? arrived : this.#join(indices(begin, this.all.length));
  }

  #combine(batch: number, after: readonly number[]): void {
    const { rank } = this.#options;
    const layout = this.#layout;
    this.#write(inSlices(layout, rank, batch, returns), after);
    for (const slice of slicesOf(layout, batch)) {
      const waits = this.#wait(comebacks(layout, rank, slice));
      const parts = sumParts(layout, rank, slice);
      if (parts.length === 0) continue;
      this.all.push({ kind: 'sum', dtype: 'bfloat16', parts, after: [...after, ...waits] });
    }
  }

  #write(blocks: readonly Block[], after: readonly number[]): void {
    const { strategy, channels } = this.#options;
    for (const block of blocks) {
      for (const piece of placePieces(block, strategy, channels)) {
        this.all.push({ ...writeOf(block, piece), after });
      }
    }
  }

  #wait(blocks: readonly Block[]): number[] {
    const { strategy, channels } = this.#options;
    const begin = this.all.length;
    for (const block of blocks) {
      this.all.push(...placePieces(block, strategy, channels).map((one) => waitFor(block, one)));
    }
    return indices(begin, this.all.length);
  }

  /** One step in place of several. */
  #join(after: readonly number[]): readonly number[] {
    if (after.length < 2) return after;
    this.all.push({ kind: 'join', after });
    return [this.all.length - 1];
  }
}

const indices = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, i) => from + i);
