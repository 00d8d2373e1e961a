import { transfersTraffic } from '../plan/patterns/transfers.js';
import { multi, roundRobin, single } from '../plan/strategies.js';
import { writePlan } from '../plan/write-plan.js';
import { defineBenchmark } from '../runner/benchmark.js';
import { columns, device, pinned } from '../runner/columns.js';
import { peersOf } from './peers.js';

export const bidir = defineBenchmark({
  id: 'bidir',
  summary: 'Write between rank 0 and each other rank, both ways at once; reports the sum.',
  ranks: { min: 2 },
  columns: columns([single, multi, roundRobin], [pinned, device]),
  sizes: { minBytes: 64 * 2 ** 10, maxBytes: 16 * 2 ** 20, factor: 4 },
  clock: 'initiator',
  pattern: 'bothWays',
  turns: ({ world, bytes }) =>
    peersOf(world).map((peer) => {
      const transfers = [
        { from: 0, to: peer, bytes },
        { from: peer, to: 0, bytes },
      ];
      const traffic = transfersTraffic('both ways', world, transfers);
      return {
        traffic,
        plan: (situation) => writePlan(traffic, situation),
        figureBytes: { figure: 2 * bytes, line: bytes },
        pair: [0, peer],
      };
    }),
});
