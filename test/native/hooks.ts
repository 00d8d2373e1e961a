// What the addon offers to tests only: the types in src/ do not know it.
import type { Fabric } from '../../src/index.js';
import type { NativeJob, NativePort } from '../../src/native/fabric.js';
import type { NativeQueueJob } from '../../src/native/tasks.js';

/** What the executor does wrong on purpose. */
export type SabotagedJob = NativeJob & {
  readonly sabotage?: { readonly kind: 'flip' | 'drop'; readonly offset: number };
};

/** What producer 0 does wrong on purpose. */
export type FaultyQueueJob = NativeQueueJob & {
  readonly fault?: { readonly kind: 'drop' | 'duplicate' | 'flip'; readonly at: number };
};

/** From here on completions come late and out of order. */
export function shuffle(fabric: Fabric, seed: number, holdChance: number): void {
  const port = fabric.port.native as NativePort & { shuffle(seed: number, chance: number): void };
  port.shuffle(seed, holdChance);
}
