import { transfersTraffic } from '../plan/patterns/transfers.js';
import { multi, roundRobin, single } from '../plan/strategies.js';
import { writePlan } from '../plan/write-plan.js';
import { defineBenchmark } from '../runner/benchmark.js';
import { columns, device, pinned } from '../runner/columns.js';
import { onOff } from '../settings/option.js';

export const ring = defineBenchmark({
  id: 'ring',
  summary: 'Write from every rank to the next one, or with --both to both neighbours.',
  ranks: { min: 2, usual: 4 },
  columns: columns([single, multi, roundRobin], [pinned, device]),
  sizes: { minBytes: 64 * 2 ** 10, maxBytes: 16 * 2 ** 20, factor: 4 },
  clock: 'slowest',
  pattern: 'ring',
  options: { both: onOff('--both', 'write to the previous rank as well') },
  turns: ({ world, bytes, options: { both } }) => {
    const steps = both ? [1, world - 1] : [1];
    const transfers = Array.from({ length: world }, (_, from) =>
      steps.map((step) => ({ from, to: (from + step) % world, bytes })),
    ).flat();
    const traffic = { ...transfersTraffic('ring', world, transfers), shifted: true };
    return [
      {
        traffic,
        plan: (situation) => writePlan(traffic, situation),
        figureBytes: { figure: bytes, line: steps.length * bytes },
      },
    ];
  },
});
