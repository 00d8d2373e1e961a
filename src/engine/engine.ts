import type { HostBuffer, MemoryKind } from '../memory/buffer.js';
import type { Plan } from '../plan/plan.js';

export interface RunOptions {
  readonly iterations: number;
  /** Iterations per sample; divides `iterations`. Default 1. */
  readonly batch?: number;
  /** Of the whole run: ranks with nothing to do wait longer for the others when that is long. */
  readonly expectedMs?: number;
}

/** Executes plans. Every rank of the world makes the same calls in the same order. */
export interface Engine extends AsyncDisposable {
  readonly rank: number;
  readonly world: number;
  /** What this rank sends from and receives into; sized by `prepare`. */
  readonly source: HostBuffer;
  readonly target: HostBuffer;
  /** `host` where some rank may not lock as much: a fallback that results must name. */
  readonly memory: MemoryKind;
  /** Makes buffers of at least these sizes and tells the other ranks of them. */
  prepare(sizes: { sourceBytes: number; targetBytes: number }): Promise<void>;
  /** This rank's samples, in nanoseconds on its own clock. */
  run(plan: Plan, options: RunOptions): Promise<Float64Array>;
}
