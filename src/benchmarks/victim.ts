import { WeftError } from '../errors.js';
import { summarize } from '../measure/statistics.js';
import { traceOf } from '../plan/patterns/trace.js';
import {
  coveredRoundTrips,
  type VictimLoad,
  victimLoads,
  victimTransfers,
} from '../plan/patterns/victim.js';
import { multi, single } from '../plan/strategies.js';
import { defineBenchmark, type Turn } from '../runner/benchmark.js';
import { columns, pinned } from '../runner/columns.js';
import { choice, option, sizeAboveZero, type ValuesOf, wholeNumber } from '../settings/option.js';
import { partnerOf } from './peers.js';

const options = {
  load: option({
    flags: '--load <pattern>',
    help: `load: ${victimLoads.join(', ')}`,
    kind: choice(victimLoads),
    default: 'incast',
  }),
  loadBytes: option({
    flags: '--load-bytes <size>',
    help: 'bytes per loading rank and iteration',
    kind: sizeAboveZero,
    default: 16 * 2 ** 20,
  }),
  roundTrips: option({
    flags: '--round-trips <count>',
    help: 'round trips of the pair per iteration',
    kind: wholeNumber(4, 10_000),
    default: 64,
  }),
};

type Options = ValuesOf<typeof options>;

export const victim = defineBenchmark({
  id: 'victim',
  summary: 'Time round trips of one pair while the other ranks load the fabric, and alone.',
  ranks: { min: 3, usual: 4 },
  columns: columns([single, multi], [pinned]),
  sizes: { minBytes: 8, maxBytes: 8, factor: 2 },
  clock: 'initiator',
  roundTrip: true,
  pattern: 'victim',
  notModelled: 'queueing delays of small messages',
  options,
  preflight: ({ options: { load } }, ranks) => refuseFew(load, ranks),
  turns: ({ hosts, bytes, options }) => {
    refuseFew(options.load, hosts.length);
    const pair = [0, partnerOf(hosts)] as const;
    const others = [...hosts.keys()].filter((rank) => !pair.includes(rank));
    return [others, []].map((loading) => turnOf(hosts.length, pair, loading, bytes, options));
  },
  figures: ({ samples: [loaded, alone] }) => {
    const [under, usual] = [summarize(loaded!), summarize(alone!)];
    return {
      slowdown: under.p50 / usual.p50,
      aloneP50Nanoseconds: usual.p50,
      aloneP99Nanoseconds: usual.p99,
    };
  },
});

/** The pair and whoever loads the fabric meanwhile; nobody: the reference. */
function turnOf(
  world: number,
  pair: readonly [number, number],
  others: readonly number[],
  bytes: number,
  options: Options,
): Turn {
  const { transfers, pongs, started, ended } = victimTransfers({ ...options, pair, others, bytes });
  const trace = traceOf(others.length > 0 ? 'victim' : 'victim alone', world, transfers);
  return {
    traffic: trace.traffic,
    plan: (situation) => trace.plan(situation),
    figureBytes: { figure: bytes, line: bytes },
    marks: (situation) => {
      if (situation.rank !== pair[0]) return [];
      const ends = trace.ends(situation);
      return [...pongs, ...started, ...ended].map((one) => ({ steps: ends.get(one)!, since: 0 }));
    },
    within: {
      samples: (times) =>
        coveredRoundTrips({
          pongs: times.subarray(0, pongs.length),
          started: times.subarray(pongs.length, pongs.length + started.length),
          ended: times.subarray(pongs.length + started.length),
        }).map(Math.round),
      none: 'no round trip took place under load: use a larger --load-bytes',
    },
    ...(others.length === 0 && { reference: true }),
  };
}

function refuseFew(load: VictimLoad, ranks: number): void {
  if (load === 'incast' || ranks >= 4) return;
  throw new WeftError('BAD_USAGE', `\`load\` ${load} needs at least 2 ranks besides the pair`, {
    hint: 'Use 4 ranks or more, or `load` incast.',
  });
}
