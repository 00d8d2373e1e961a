import { allToAllBytes } from '../measure/figures.js';
import { allToAllV } from '../plan/collective.js';
import { allToAll, allToAllTraffic } from '../plan/patterns/all-to-all.js';
import { multi, roundRobin, single } from '../plan/strategies.js';
import { defineBenchmark } from '../runner/benchmark.js';
import { columns, device, pinned } from '../runner/columns.js';

export const all2all = defineBenchmark({
  id: 'all2all',
  summary: 'Write from every rank to every other rank at once.',
  ranks: { min: 2 },
  columns: columns([single, multi, roundRobin], [pinned, device]),
  sizes: { minBytes: 4 * 2 ** 20, maxBytes: 128 * 2 ** 20, factor: 2 },
  clock: 'slowest',
  pattern: 'allToAll',
  fitsModels: true,
  // Without the block that a rank would send itself: no plan carries it.
  against: ({ world, bytes }) => allToAllV(world, (from, to) => (from === to ? 0 : bytes)),
  turns: ({ world, bytes }) => [
    {
      traffic: allToAllTraffic({ world, bytes }),
      plan: (situation) => allToAll({ world, bytes, ...situation }),
      figureBytes: allToAllBytes(bytes, world),
    },
  ],
});
