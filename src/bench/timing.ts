import type { Engine } from '../engine/engine.js';
import type { Plan } from '../plan/plan.js';
import type { World } from '../world/world.js';
import type { Settings } from './settings.js';

/** How often to run, and how many iterations to time together. */
export interface Count {
  readonly iterations: number;
  readonly batch: number;
}

const fewestIterations = 5;
const mostSamples = 5000;
/** An iteration shorter than this is timed in batches: two looks at the clock cost some 50 ns. */
const shortestSampleNs = 10_000;
const calibrationShare = 0.05;

/** Finds out how many iterations of a warm plan the budget allows. Rank 0 decides for all. */
export async function calibrate(
  engine: Engine,
  world: World,
  plan: Plan,
  settings: Settings,
): Promise<Count> {
  const budgetNs = settings.budgetMs * 1e6;
  for (let iterations = 1; ; iterations *= 4) {
    const samples = await engine.run(plan, { iterations, batch: iterations });
    const total = samples[0]!;
    const count =
      total > budgetNs * calibrationShare || iterations >= 2 ** 14
        ? countFor(total / iterations, settings)
        : undefined;
    const decided = await world.broadcast('iterations', count ?? null);
    if (decided) return decided;
  }
}

/** Of an iteration's expected time. */
export function countFor(
  iterationNs: number,
  settings: Pick<Settings, 'iterations' | 'budgetMs'>,
): Count {
  const wanted = Math.max(1, Math.ceil(shortestSampleNs / Math.max(iterationNs, 1)));
  if (settings.iterations !== undefined) {
    const { iterations } = settings;
    let batch = Math.min(wanted, iterations);
    while (iterations % batch !== 0) batch--;
    return { iterations, batch };
  }
  const affordable = (settings.budgetMs * 1e6) / Math.max(iterationNs, 1);
  const samples = Math.min(
    mostSamples,
    Math.max(fewestIterations, Math.round(affordable / wanted)),
  );
  return { iterations: samples * wanted, batch: wanted };
}
