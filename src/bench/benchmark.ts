import type { FigureBytes } from '../measure/figures.js';
import type { Plan } from '../plan/plan.js';
import type { Strategy } from '../plan/strategies.js';
import type { Traffic } from '../plan/traffic.js';
import type { Pacing } from '../plan/write-plan.js';

/** Where a column's buffers live: page-locked host memory, or a GPU's. */
export interface ColumnMemory {
  readonly id: 'pinned' | 'device';
  /** As it ends the name of a column: Single`Pin`. */
  readonly title: string;
}

export const pinned: ColumnMemory = { id: 'pinned', title: 'Pin' };
export const device: ColumnMemory = { id: 'device', title: 'DMA' };

/** A column of the result table. */
export interface Column {
  readonly name: string;
  readonly strategy: Strategy;
  readonly memory: ColumnMemory;
  /** Other names under which users ask for it. */
  readonly aliases: readonly string[];
}

/** Every strategy with every memory, strategies first: SinglePin, SingleDMA, MultiPin, … */
export function columns(
  strategies: readonly Strategy[],
  memories: readonly ColumnMemory[],
  aliases: Readonly<Record<string, readonly string[]>> = {},
): Column[] {
  return strategies.flatMap((strategy) =>
    memories.map((memory) => {
      const name = `${strategy.title}${memory.title}`;
      return { name, strategy, memory, aliases: aliases[name] ?? [] };
    }),
  );
}

/** What a benchmark knows when it is asked what to run. */
export interface Situation {
  readonly world: number;
  readonly bytes: number;
  readonly strategy: Strategy;
  /** Independent buffers in flight; undefined: as the benchmark does by itself. */
  readonly buffers: number | undefined;
}

export interface PlanSituation extends Pacing {
  readonly rank: number;
  readonly channels: number;
  readonly strategy: Strategy;
}

/** One thing to time. A row's turns are run one after the other and averaged. */
export interface Turn {
  readonly traffic: Traffic;
  plan(situation: PlanSituation): Plan;
  /** The bytes of the figures of one iteration. */
  readonly figureBytes: FigureBytes;
  /** Set where the turn is between two ranks, the first of which has the clock. */
  readonly pair?: readonly [from: number, to: number];
}

export interface Benchmark {
  readonly id: string;
  readonly summary: string;
  readonly ranks: { readonly min: number };
  readonly needs: readonly ('messages' | 'rma' | 'immediate')[];
  readonly columns: readonly Column[];
  readonly sizes: { readonly minBytes: number; readonly maxBytes: number; readonly factor: number };
  /** Whose time a sample is: the initiator's, or the slowest rank's. */
  readonly clock: 'initiator' | 'slowest';
  /** An iteration is there and back: half of it is given beside it. */
  readonly roundTrip?: boolean;
  readonly pattern: 'pingPong' | 'oneToEach' | 'allToAll';
  /** `--buffers` means something here. */
  readonly takesBuffers?: boolean;
  /** Transfers are not cut: both sides match whole messages. */
  readonly wholeMessages?: boolean;
  turns(situation: Situation): readonly Turn[];
}

/** Checks a benchmark's definition once, where it is written. */
export function defineBenchmark(benchmark: Benchmark): Benchmark {
  const { minBytes, maxBytes, factor } = benchmark.sizes;
  if (!/^[a-z][a-z0-9-]*$/.test(benchmark.id)) throw new TypeError(`bad id: ${benchmark.id}`);
  if (minBytes > maxBytes || factor < 2) throw new TypeError(`${benchmark.id}: bad sizes`);
  return benchmark;
}
