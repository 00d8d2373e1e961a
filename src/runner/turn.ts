import type { FigureBytes } from '../measure/figures.js';
import type { Histogram } from '../measure/histogram.js';
import type { Summary } from '../measure/statistics.js';
import type { Mark, Plan } from '../plan/plan.js';
import type { Strategy } from '../plan/strategies.js';
import type { Traffic } from '../plan/traffic.js';
import type { Pacing } from '../plan/write-plan.js';
import type { OptionTable, ValuesOf } from '../settings/option.js';

/** What a benchmark knows when it is asked what to run. */
export interface Situation<O extends OptionTable = OptionTable> {
  readonly world: number;
  /** The host of each rank. */
  readonly hosts: readonly string[];
  readonly bytes: number;
  readonly strategy: Strategy;
  /** Of the column, where the benchmark runs several things. */
  readonly variant?: string | undefined;
  /** Independent buffers in flight; undefined: the benchmark's own number. */
  readonly buffers: number | undefined;
  /** The values of the benchmark's own options. */
  readonly options: ValuesOf<O>;
}

/** What a turn knows when it is asked for the plan of one rank. */
export interface PlanSituation extends Pacing {
  readonly rank: number;
  readonly channels: number;
  readonly strategy: Strategy;
}

/** One thing to time. A row's turns run one after the other, and their mean is the row. */
export interface Turn {
  readonly traffic: Traffic;
  plan(situation: PlanSituation): Plan;
  /** What the timed loop keeps the times of. */
  marks?(situation: PlanSituation): readonly Mark[];
  /** The bytes of the figures of one iteration. */
  readonly figureBytes: FigureBytes;
  /** Set where the turn is between two ranks, the first of which has the clock. */
  readonly pair?: readonly [from: number, to: number];
  /** The rank whose time counts, where it is one of ranks that all keep their times. Default: as the benchmark's clock. */
  readonly clock?: number;
  /** Samples from rank 0's marks, in place of the times of iterations. The row then has no bound. */
  readonly within?: {
    /** From the times of an iteration's marks, in their order. */
    samples(times: Float64Array): readonly number[];
    /** Why there may be no sample at all, and what to do. */
    readonly none: string;
  };
  /** How a collective moves its blocks, as `--algorithm` names it. */
  readonly algorithm?: string;
  /** Measured in turn with the others for figures alone: no part of the row's time. */
  readonly reference?: boolean;
}

/** What was measured of one row, for figures of a benchmark's own. */
export interface Timed<O extends OptionTable = OptionTable> {
  readonly situation: Situation<O>;
  readonly turns: readonly Turn[];
  /** Over all turns, per iteration. */
  readonly nanoseconds: Summary;
  /** By turn: the samples that count, each of `batch` iterations. */
  readonly samples: readonly (readonly number[])[];
  /** By turn and rank; empty where another library ran. */
  readonly byRank: readonly (readonly ArrayLike<number>[])[];
  /** By turn: how long after its start each mark of any rank came; undefined where no rank has marks. */
  readonly marks: readonly (Histogram | undefined)[];
  /** Rank 0's, by turn. */
  readonly plans: readonly Plan[];
  readonly batch: number;
}
