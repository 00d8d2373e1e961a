import type { FigureBytes } from '../measure/figures.js';
import type { Plan } from '../plan/plan.js';
import type { Strategy } from '../plan/strategies.js';
import type { Traffic } from '../plan/traffic.js';
import type { Pacing } from '../plan/write-plan.js';
import type { Session } from '../session/session.js';
import type { World } from '../world/world.js';
import type { Listener } from './runner.js';
import type { Settings } from './settings.js';

/** Where a column's buffers live: page-locked host memory, or a GPU's. */
export interface ColumnMemory {
  readonly id: 'pinned' | 'device';
  /** As it ends the name of a column: Single`Pin`. */
  readonly title: string;
}

export const pinned: ColumnMemory = { id: 'pinned', title: 'Pin' };
export const device: ColumnMemory = { id: 'device', title: 'DMA' };

/** A column of the result table, as users name it. */
export interface NamedColumn {
  readonly name: string;
  /** Other names under which users ask for it. */
  readonly aliases?: readonly string[];
}

/** A column that is a way of running a plan. */
export interface Column extends NamedColumn {
  readonly strategy: Strategy;
  readonly memory: ColumnMemory;
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

/** An option that only one benchmark has. What it parses to is in `Settings.own` under its key. */
export interface OwnOption {
  /** As commander writes it: `--grid <list>`, or `--per-rail` for a switch. */
  readonly flags: string;
  /** The flag in camel case: `perRail`. */
  readonly key: string;
  readonly summary: string;
  /** Throws an Error whose message says what it must be. Absent for a switch. */
  parse?(text: string): string | number | readonly string[] | readonly number[];
}

interface BenchmarkBase {
  readonly id: string;
  readonly summary: string;
  /** `usual`: how many local ranks there are when nobody says; default 2. */
  readonly ranks: { readonly min: number; readonly usual?: number };
  readonly needs: readonly ('messages' | 'rma' | 'immediate')[];
  readonly columns: readonly NamedColumn[];
  readonly sizes: { readonly minBytes: number; readonly maxBytes: number; readonly factor: number };
  readonly options?: readonly OwnOption[];
  /** Throws BAD_USAGE for settings that make no sense here, before any rank is started. */
  check?(settings: Settings): void;
  /** Throws for settings that this machine cannot serve, before local ranks are started on it. */
  preflight?(settings: Settings): void;
  /** `--buffers` means something here. */
  readonly takesBuffers?: boolean;
}

/** A benchmark made of plans: the runner verifies, calibrates and times them. */
export interface PlanBenchmark extends BenchmarkBase {
  readonly columns: readonly Column[];
  /** Whose time a sample is: the initiator's, or the slowest rank's. */
  readonly clock: 'initiator' | 'slowest';
  /** An iteration is there and back: half of it is given beside it. */
  readonly roundTrip?: boolean;
  readonly pattern: 'pingPong' | 'oneToEach' | 'allToAll';
  /** Transfers are not cut: both sides match whole messages. */
  readonly wholeMessages?: boolean;
  turns(situation: Situation): readonly Turn[];
}

/** What a benchmark with a procedure of its own is given. Every rank calls it; rank 0's listener hears of rows. */
export interface Procedure {
  readonly world: World;
  readonly settings: Settings;
  readonly listener: Listener;
}

/** A benchmark whose rows do not come from one plan after the other. It verifies what it measures, too. */
export type OwnBenchmark = BenchmarkBase &
  (
    | {
        readonly fabric: true;
        /** It wants to be told of rails that do not carry, instead of being refused. */
        readonly reportsGaps?: boolean;
        /** Whether buffers in GPU memory are of use to it. */
        deviceMemory?(settings: Settings): boolean;
        run(procedure: Procedure & { session: Session }): Promise<void>;
      }
    | { readonly fabric: false; run(procedure: Procedure): Promise<void> }
  );

export type Benchmark = PlanBenchmark | OwnBenchmark;

export const isPlanned = (benchmark: Benchmark): benchmark is PlanBenchmark => 'turns' in benchmark;

/** Whether it can only run over libfabric. */
export const usesFabric = (benchmark: Benchmark): boolean =>
  isPlanned(benchmark) || benchmark.fabric;

/** Checks a benchmark's definition once, where it is written. */
export function defineBenchmark<B extends Benchmark>(benchmark: B): B {
  const { minBytes, maxBytes, factor } = benchmark.sizes;
  if (!/^[a-z][a-z0-9-]*$/.test(benchmark.id)) throw new TypeError(`bad id: ${benchmark.id}`);
  if (minBytes > maxBytes || factor < 2) throw new TypeError(`${benchmark.id}: bad sizes`);
  return benchmark;
}
