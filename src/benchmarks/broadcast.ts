import { WeftError } from '../errors.js';
import { routes } from '../plan/patterns/routes.js';
import { multi, single } from '../plan/strategies.js';
import { defineBenchmark } from '../runner/benchmark.js';
import { columns, device, pinned } from '../runner/columns.js';
import { option, wholeNumber } from '../settings/option.js';
import { algorithmOption, broadcastRoute, collectiveSizes, collectiveTurn } from './collective.js';

export const broadcast = defineBenchmark({
  id: 'broadcast',
  summary: 'Send a buffer of one rank to all other ranks.',
  ranks: { min: 2 },
  columns: columns([single, multi], [pinned, device]),
  sizes: collectiveSizes,
  clock: 'slowest',
  pattern: 'broadcast',
  busFactor: () => 1,
  options: {
    algorithm: algorithmOption(['direct', 'ring', 'tree']),
    root: option({
      flags: '--root <rank>',
      help: 'rank that sends',
      kind: wholeNumber(0),
      default: 0,
    }),
  },
  against: ({ bytes, options: { root } }) =>
    bytes % 4 === 0 ? { kind: 'broadcast', bytes, dtype: 'float32', root } : undefined,
  turns: ({ world, bytes, options: { algorithm, root } }) => {
    if (root >= world) {
      throw new WeftError('BAD_USAGE', `\`root\` is ${root}, but the ranks are 0 to ${world - 1}`, {
        hint: 'Use a smaller number, or more ranks.',
      });
    }
    const route = routes[algorithm === 'auto' ? broadcastRoute(world, bytes) : algorithm];
    return [collectiveTurn({ kind: 'broadcast', world, bytes, route, root })];
  },
});
