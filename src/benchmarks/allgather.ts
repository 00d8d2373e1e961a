import { routes } from '../plan/patterns/routes.js';
import { multi, roundRobin, single } from '../plan/strategies.js';
import { defineBenchmark } from '../runner/benchmark.js';
import { columns, device, pinned } from '../runner/columns.js';
import { algorithmOption, collectiveSizes, collectiveTurn, sharedEqually } from './collective.js';

export const allgather = defineBenchmark({
  id: 'allgather',
  summary: 'Gather a block of every rank on all ranks.',
  ranks: { min: 2 },
  columns: columns([single, multi, roundRobin], [pinned, device]),
  sizes: collectiveSizes,
  clock: 'slowest',
  pattern: 'allgather',
  busFactor: (world) => (world - 1) / world,
  options: {
    algorithm: algorithmOption(['direct', 'ring']),
  },
  against: (situation) => sharedEqually('allgather', situation, 'float32'),
  turns: ({ world, bytes, options: { algorithm } }) => {
    const route = routes[algorithm === 'auto' ? 'direct' : algorithm];
    return [collectiveTurn({ kind: 'allgather', world, bytes, route })];
  },
});
