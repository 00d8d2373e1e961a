import { routes } from '../plan/patterns/routes.js';
import { multi, roundRobin, single } from '../plan/strategies.js';
import { defineBenchmark } from '../runner/benchmark.js';
import { columns, device, pinned } from '../runner/columns.js';
import {
  algorithmOption,
  checkWholeNumbers,
  collectiveSizes,
  collectiveTurn,
  dtypeOption,
} from './collective.js';

export const allreduce = defineBenchmark({
  id: 'allreduce',
  summary: 'Add up a buffer of every rank; all ranks get the sums.',
  ranks: { min: 2 },
  columns: columns([single, multi, roundRobin], [pinned, device]),
  sizes: collectiveSizes,
  clock: 'slowest',
  pattern: 'allreduce',
  busFactor: (world) => (2 * (world - 1)) / world,
  options: {
    dtype: dtypeOption,
    algorithm: algorithmOption(['direct', 'ring']),
  },
  check: ({ settings, options }) => checkWholeNumbers(settings, options),
  against: ({ bytes, options: { dtype } }) => ({ kind: 'allreduce', bytes, dtype }),
  turns: ({ world, bytes, options: { algorithm, dtype } }) => {
    const route = routes[algorithm === 'auto' ? 'direct' : algorithm];
    return [collectiveTurn({ kind: 'allreduce', world, bytes, route, dtype })];
  },
});
