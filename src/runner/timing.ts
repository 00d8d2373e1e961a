import type { Engine } from '../engine/engine.js';
import type { Plan } from '../plan/plan.js';
import type { Settings } from '../settings/table.js';
import type { World } from '../world/world.js';

/** How often to run, and how many iterations to time together. */
export interface Count {
  readonly iterations: number;
  readonly batch: number;
  /** How long that will take. */
  readonly expectedMs: number;
}

const fewestIterations = 5;
const mostSamples = 5000;
/** Of a row whose iterations were asked for. */
const mostKept = 100_000;
/** An iteration shorter than this is timed in batches: two looks at the clock cost some 50 ns. */
const shortestSampleNs = 25_000;
const calibrationShare = 0.05;

/** Finds out how many iterations of a warm plan the budget allows. The slowest rank's time decides for all. */
export async function calibrate(
  engine: Pick<Engine, 'run'>,
  world: World,
  plan: Plan,
  settings: Settings,
  turns: number,
): Promise<Count> {
  const budgetNs = (settings.budgetMs * 1e6) / turns;
  for (let iterations = 1; ; iterations *= 4) {
    const samples = await engine.run(plan, { iterations, batch: iterations });
    const totals = await world.gather('calibration', samples[0]!);
    const total = totals?.reduce((most, one) => Math.max(most, one)) ?? 0;
    const count =
      total > budgetNs * calibrationShare || iterations >= 2 ** 14
        ? countFor(total / iterations, settings, turns)
        : undefined;
    const decided = await world.broadcast('iterations', count ?? null);
    if (decided) return decided;
  }
}

/** Of an iteration's expected time. The budget is for a row, whose turns share it. */
export function countFor(
  iterationNs: number,
  settings: Pick<Settings, 'iterations' | 'budgetMs'>,
  turns = 1,
): Count {
  const ns = Math.max(iterationNs, 1);
  const shortest = Math.max(1, Math.ceil(shortestSampleNs / ns));
  if (settings.iterations !== undefined) {
    const { iterations } = settings;
    const batch = divisorNear(iterations, Math.max(shortest, Math.ceil(iterations / mostKept)));
    return { iterations, batch, expectedMs: (iterations * ns) / 1e6 };
  }
  const affordable = (settings.budgetMs * 1e6) / turns / ns;
  const samples = Math.min(
    mostSamples,
    Math.max(fewestIterations, Math.round(affordable / shortest)),
  );
  const iterations = samples * shortest;
  return { iterations, batch: shortest, expectedMs: (iterations * ns) / 1e6 };
}

/** Iterations asked for are run exactly: the batch must divide them. The next divisor up, if it is not far. */
function divisorNear(iterations: number, wanted: number): number {
  const least = Math.min(wanted, iterations);
  for (let batch = least; batch <= 8 * least && batch <= iterations; batch++) {
    if (iterations % batch === 0) return batch;
  }
  for (let batch = least; batch > 1; batch--) {
    if (iterations % batch === 0) return batch;
  }
  return iterations > mostKept ? iterations : 1;
}
