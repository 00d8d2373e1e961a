import { gbpsOf } from '../measure/units.js';
import { halves } from '../plan/patterns/halves.js';
import { transfersTraffic } from '../plan/patterns/transfers.js';
import { multi, roundRobin, single } from '../plan/strategies.js';
import { writePlan } from '../plan/write-plan.js';
import { defineBenchmark } from '../runner/benchmark.js';
import { columns, device, pinned } from '../runner/columns.js';

export const bisect = defineBenchmark({
  id: 'bisect',
  summary: 'Write between the lower and the upper half of the ranks, both ways at once.',
  ranks: { min: 2, usual: 4 },
  columns: columns([single, multi, roundRobin], [pinned, device]),
  sizes: { minBytes: 64 * 2 ** 10, maxBytes: 16 * 2 ** 20, factor: 4 },
  clock: 'slowest',
  pattern: 'bisection',
  turns: ({ world, hosts, bytes }) => {
    const transfers = halves(hosts).flatMap(([a, b]) => [
      { from: a, to: b, bytes },
      { from: b, to: a, bytes },
    ]);
    const traffic = transfersTraffic('bisection', world, transfers);
    return [
      {
        traffic,
        plan: (situation) => writePlan(traffic, situation),
        figureBytes: { figure: bytes, line: bytes },
      },
    ];
  },
  figures: ({ situation: { hosts, bytes }, nanoseconds }) => ({
    totalGbps: gbpsOf(2 * halves(hosts).length * bytes, nanoseconds.mean),
  }),
});
