import { pingPongBytes } from '../measure/figures.js';
import { pingPong, pingPongTraffic } from '../plan/patterns/ping-pong.js';
import { single } from '../plan/strategies.js';
import { defineBenchmark } from '../runner/benchmark.js';
import { columns, device, pinned } from '../runner/columns.js';
import { peersOf } from './peers.js';

export const sendrecv = defineBenchmark({
  id: 'sendrecv',
  summary: 'Ping-pong between rank 0 and each other rank; reports the mean over pairs.',
  ranks: { min: 2 },
  columns: columns([single], [pinned, device], {
    SinglePin: ['SingleHost', 'Host'],
    SingleDMA: ['SingleDevice', 'Device'],
  }),
  sizes: { minBytes: 128 * 2 ** 10, maxBytes: 128 * 2 ** 20, factor: 2 },
  clock: 'initiator',
  roundTrip: true,
  pattern: 'pingPong',
  fitsModels: true,
  wholeMessages: true,
  turns: ({ world, bytes }) =>
    peersOf(world).map((peer) => {
      const game = { world, a: 0, b: peer, bytes };
      return {
        traffic: pingPongTraffic(game),
        plan: (situation) => pingPong({ ...game, ...situation }),
        figureBytes: pingPongBytes(bytes),
        pair: [0, peer],
      };
    }),
});
