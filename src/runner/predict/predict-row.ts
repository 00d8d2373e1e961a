import { refuseTooMany, simulatePlans } from '../../engine/simulated.js';
import { mean } from '../../measure/summary.js';
import type { Plan } from '../../plan/plan.js';
import type { Strategy } from '../../plan/strategies.js';
import type { FabricModel } from '../../simulate/fabric-model.js';
import { periodOf } from '../../simulate/period.js';
import { hostsAreAlike, type SimulatedWorld } from '../../simulate/wiring.js';
import type { PlanBenchmark, Turn } from '../benchmark.js';
import type { Column } from '../columns.js';

/** One row of a table, in worlds whose fabrics differ in nothing but parameters. */
export interface PredictedSubject {
  readonly clock: PlanBenchmark['clock'];
  readonly column: Column;
  readonly turns: readonly Turn[];
  readonly chunkBytes?: number | undefined;
  readonly world: Omit<SimulatedWorld, 'memory'>;
}

/** The host of each rank of a model's world. */
export const hostsOf = (nodes: number, ranksPerNode: number): string[] =>
  Array.from(
    { length: nodes * ranksPerNode },
    (_, rank) => `node-${Math.floor(rank / ranksPerNode)}`,
  );

/** The nanoseconds of one iteration, by the benchmark's clock; the mean over turns. */
export function predictor(row: PredictedSubject): (fabric: FabricModel) => number {
  const { clock, column, turns, world, chunkBytes = world.fabric.chunkBytes } = row;
  const memory = column.memory.id === 'pinned' ? 'host' : 'device';
  const sim: SimulatedWorld = { ...world, memory };
  const planned = differentTurns(turns, world).map((turn) => ({
    plans: plansOf(turn, column.strategy, sim, chunkBytes),
    rank: turn.clock ?? (clock === 'slowest' ? undefined : 0),
  }));
  return (fabric) =>
    mean(
      planned.map(({ plans, rank }) => {
        const ranks = simulatePlans({ world: { ...sim, fabric }, plans });
        return rank === undefined ? ranks.reduce((a, b) => Math.max(a, b)) : ranks[rank]!;
      }),
    );
}

/** Whether the time is not exact because hosts below a leaf switch count as alike. */
export const treatsHostsAlike = ({ column, turns, world }: PredictedSubject): boolean =>
  world.switches !== undefined &&
  differentTurns(turns, world).some(({ traffic }) =>
    hostsAreAlike(world, periodOf(traffic, column.strategy, world)),
  );

function plansOf(turn: Turn, strategy: Strategy, sim: SimulatedWorld, chunkBytes: number): Plan[] {
  const channels = sim.fabric.nicsPerRank;
  let steps = 0;
  return Array.from({ length: periodOf(turn.traffic, strategy, sim) }, (_, rank) => {
    const plan = turn.plan({ rank, channels, strategy, chunkBytes });
    steps += plan.steps.length;
    // Before the rest of the plans fills the memory.
    refuseTooMany(steps);
    return plan;
  });
}

/** All pairs of nodes are alike unless a NIC or the switches between them make them differ. */
function differentTurns(
  turns: readonly Turn[],
  { switches, faults = [] }: PredictedSubject['world'],
): readonly Turn[] {
  const alike = faults.length === 0 && switches === undefined;
  return alike && turns.every(({ pair }) => pair !== undefined) ? turns.slice(0, 1) : turns;
}
