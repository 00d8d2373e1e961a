// A benchmark of your own: every rank writes to the rank a few places further on.
//   weft run examples/neighbour.mjs --ranks 4 --distance 2
import {
  columns,
  defineBenchmark,
  device,
  multi,
  option,
  pinned,
  single,
  wholeNumber,
  writePlan,
} from '@weft-fabric/weft/benchmark';

/** Rank r writes to rank r + distance, counted around the world. */
function neighbourTraffic(world, bytes, distance) {
  const outgoing = (source) => [
    {
      source,
      target: (source + distance) % world,
      buffer: 0,
      sourceOffset: 0,
      targetOffset: 0,
      bytes,
    },
  ];
  const incoming = (rank) => outgoing((rank + world - (distance % world)) % world);
  const sizes = { sourceBytes: () => bytes, targetBytes: () => bytes };
  return { title: 'neighbour', world, sequential: false, outgoing, incoming, ...sizes };
}

export default defineBenchmark({
  id: 'neighbour',
  summary: 'Write from every rank to the rank a few places further on.',
  ranks: { min: 2 },
  columns: columns([single, multi], [pinned, device]),
  sizes: { minBytes: 2 ** 20, maxBytes: 2 ** 26, factor: 2 },
  clock: 'slowest',
  pattern: 'neighbour',
  options: {
    distance: option({
      flags: '--distance <ranks>',
      help: 'write this many ranks further on',
      kind: wholeNumber(1),
      default: 1,
    }),
  },
  turns: ({ world, bytes, options }) => {
    const traffic = neighbourTraffic(world, bytes, options.distance);
    const figureBytes = { figure: bytes, line: bytes };
    return [{ traffic, figureBytes, plan: (situation) => writePlan(traffic, situation) }];
  },
});
