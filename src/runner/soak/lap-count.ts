import type { Settings } from '../../settings/table.js';
import { type Count, countFor } from '../timing.js';

/** Two looks at the clock cost some 50 ns: a sample is longer than this. */
const shortestSampleNs = 25_000;
/** Of all ranks together: rank 0 gets them after every lap. */
const mostSamples = 2 ** 20;
const mostOfRank = 20_000;
const fewestOfRank = 64;

/** As many iterations as fit the budget, one at least: the less that is, the sooner a soak ends when it is told to. */
export function lapCount(
  iterationNs: number,
  settings: Pick<Settings, 'iterations' | 'budgetMs'>,
  ranks: number,
): Count {
  const ns = Math.max(iterationNs, 1);
  if (settings.iterations !== undefined) return countFor(ns, settings);
  const affordable = Math.max(1, Math.floor((settings.budgetMs * 1e6) / ns));
  const samples = Math.max(fewestOfRank, Math.min(mostOfRank, Math.floor(mostSamples / ranks)));
  const batch = Math.min(
    affordable,
    Math.max(Math.ceil(shortestSampleNs / ns), Math.ceil(affordable / samples)),
  );
  const iterations = Math.floor(affordable / batch) * batch;
  return { iterations, batch, expectedMs: (iterations * ns) / 1e6 };
}
