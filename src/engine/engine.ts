import type { Mismatch, PatternRange } from '../memory/buffer.js';
import type { NumberKind, NumberPart } from '../memory/numbers.js';
import type { NativeProxyJob, NativeProxyResult } from '../native/tasks.js';
import type { Plan } from '../plan/plan.js';
import type { Labels } from '../results/schema.js';

/** What a part of the target buffer must hold: a pattern, from one of its positions on. */
export interface Expected {
  readonly offset: number;
  readonly bytes: number;
  readonly seed: number;
  readonly position: number;
}

export interface RunOptions {
  readonly iterations: number;
  /**
   * Looks at these bytes the moment they are said to be there, before any barrier, in the first iteration: an immediate
   * that overtakes its data is found. `late` hears of bytes that were not there; its offset is the target buffer's. Not
   * for buffers in GPU memory.
   */
  readonly expecting?: { readonly parts: readonly Expected[]; late(found: Mismatch): void };
  /** `heard` is told of stretches longer than this in which nothing completed on this rank. Not with `expecting`. */
  readonly watching?: { readonly silenceMs: number; heard(silences: readonly Silence[]): void };
  /**
   * `heard` is told how many nanoseconds after the start of each iteration each of these steps of the plan was done, on
   * this rank's clock: for every iteration, the steps in this order. Not with `expecting`.
   */
  readonly marks?: { readonly steps: readonly number[]; heard(times: Float64Array): void };
  /** Iterations per sample; divides `iterations`. Default 1. */
  readonly batch?: number;
  /** Of the whole run: ranks with nothing to do wait longer for the others when that is long. */
  readonly expectedMs?: number;
}

/** A stretch of a run in which nothing completed on a rank, and the transfers it waited for. */
export interface Silence {
  /** Since the run began. */
  readonly startMs: number;
  readonly milliseconds: number;
  /** The rank had done its part and waited for the others. */
  readonly barrier: boolean;
  readonly open: readonly {
    readonly peer: number;
    /** Undefined: any. */
    readonly channel: number | undefined;
    readonly outgoing: boolean;
  }[];
}

export interface ServeOptions extends RunOptions {
  /** CPU producers and ranks have to share cores: producers and proxy spin only briefly. */
  readonly crowded: boolean;
}

export type MemoryLabel = NonNullable<Labels['memory']>;

export interface BufferSizes {
  readonly sourceBytes: number;
  readonly targetBytes: number;
  /** Peers may read the source buffers: for plans with reads. */
  readonly readable?: boolean;
}

/** Memory of the host or of a GPU that fills and verifies itself where it lies. */
export interface PatternBuffer {
  readonly bytes: number;
  fill(seed: number, range?: PatternRange): Promise<void>;
  verify(seed: number, range?: PatternRange): Promise<Mismatch>;
  writeNumbers(kind: NumberKind, parts: readonly NumberPart[]): Promise<void>;
  compareNumbers(kind: NumberKind, parts: readonly NumberPart[]): Promise<Mismatch>;
}

/** Executes plans. Every rank of the world makes the same calls in the same order. */
export interface Engine extends AsyncDisposable {
  readonly rank: number;
  readonly world: number;
  /** What this rank sends from and receives into; sized by `prepare`. */
  readonly source: PatternBuffer;
  readonly target: PatternBuffer;
  /** What the buffers really are. A fallback, such as `host` or `staged`, is for results to name. */
  readonly memory: MemoryLabel;
  /** Makes buffers of at least these sizes and tells the other ranks of them. */
  prepare(sizes: BufferSizes): Promise<void>;
  /** This rank's samples, in nanoseconds on its own clock. */
  run(plan: Plan, options: RunOptions): Promise<Float64Array>;
}

/** An engine that also runs a plan's writes when producers ask for them. */
export interface ServingEngine extends Engine {
  /** This rank's part, where the producers are; the other ranks `run` theirs. */
  serve(plan: Plan, options: ServeOptions, proxy: NativeProxyJob): Promise<NativeProxyResult>;
}
