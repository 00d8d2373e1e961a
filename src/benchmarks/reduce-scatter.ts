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
  sharedEqually,
} from './collective.js';

export const reduceScatter = defineBenchmark({
  id: 'reduce-scatter',
  summary: 'Add up a buffer of every rank; each rank gets its share of the sums.',
  ranks: { min: 2 },
  columns: columns([single, multi, roundRobin], [pinned, device]),
  sizes: collectiveSizes,
  clock: 'slowest',
  pattern: 'reduceScatter',
  busFactor: (world) => (world - 1) / world,
  options: {
    dtype: dtypeOption,
    algorithm: algorithmOption(['direct', 'ring']),
  },
  check: ({ settings, options }) => checkWholeNumbers(settings, options),
  against: (situation) => sharedEqually('reduce-scatter', situation, situation.options.dtype),
  turns: ({ world, bytes, options: { algorithm, dtype } }) => {
    const route = routes[algorithm === 'auto' ? 'direct' : algorithm];
    return [collectiveTurn({ kind: 'reduce-scatter', world, bytes, route, dtype })];
  },
});
