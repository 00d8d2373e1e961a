import { oneToEachBytes } from '../measure/figures.js';
import { oneToEach, oneToEachTraffic } from '../plan/patterns/one-to-each.js';
import { multi, roundRobin, single } from '../plan/strategies.js';
import { defineBenchmark, type Turn } from '../runner/benchmark.js';
import { columns, device, pinned } from '../runner/columns.js';
import { peersOf } from './peers.js';

export const write = defineBenchmark({
  id: 'write',
  summary: 'Write from rank 0 to every other rank, with an immediate on arrival.',
  ranks: { min: 2 },
  columns: columns([single, multi, roundRobin], [pinned, device]),
  sizes: { minBytes: 256 * 2 ** 10, maxBytes: 2 ** 30, factor: 2 },
  clock: 'initiator',
  pattern: 'oneToEach',
  fitsModels: true,
  takes: ['buffers'],
  turns: ({ world, bytes, strategy, buffers }) => {
    const turn = (to: readonly number[], count: number): Turn => {
      const job = { world, from: 0, to, bytes, buffers: count };
      return {
        traffic: oneToEachTraffic(job),
        plan: (situation) => oneToEach({ ...job, ...situation }),
        figureBytes: oneToEachBytes(bytes, count),
        ...(to.length === 1 && { pair: [0, to[0]!] as const }),
      };
    };
    // Asked for, independent buffers go to all targets in every column, so that strategies can be compared.
    // Otherwise round-robin is about all targets at once, and the others about one at a time.
    if (buffers !== undefined) return [turn(peersOf(world), buffers)];
    if (strategy === roundRobin) return [turn(peersOf(world), world - 1)];
    return peersOf(world).map((peer) => turn([peer], 1));
  },
});
