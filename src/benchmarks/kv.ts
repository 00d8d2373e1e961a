import { WeftError } from '../errors.js';
import { gigabytesPerSecond } from '../measure/units.js';
import { kvArrivals, kvTraffic, rolesOf } from '../plan/patterns/kv.js';
import { kvPlan } from '../plan/patterns/kv-plan.js';
import { chunksOf, type Plan } from '../plan/plan.js';
import { multi, roundRobin, type Strategy } from '../plan/strategies.js';
import { busiestBytes, partsWithin, type Traffic } from '../plan/traffic.js';
import { placePieces } from '../plan/write-plan.js';
import { type Asked, defineBenchmark, type Situation, type Timed } from '../runner/benchmark.js';
import { columns, device, pinned, variants } from '../runner/columns.js';
import { choice, numberAbove, numberBetween, option, wholeNumber } from '../settings/option.js';
import { refuseEmpty, refuseLate } from './refusals.js';

const options = {
  prefill: option({
    flags: '--prefill <count>',
    help: 'number of prefill ranks',
    kind: wholeNumber(1),
    defaultText: 'half of the ranks',
  }),
  decode: option({
    flags: '--decode <count>',
    help: 'number of decode ranks',
    kind: wholeNumber(1),
    defaultText: 'the other ranks',
  }),
  requests: option({
    flags: '--requests <count>',
    help: 'requests per iteration, over all ranks',
    kind: wholeNumber(1),
    default: 8,
  }),
  layers: option({
    flags: '--layers <count>',
    help: 'layers of a request',
    kind: wholeNumber(1),
    default: 4,
  }),
  pages: option({
    flags: '--pages <count>',
    help: 'pages per layer; -b and -e are page sizes',
    kind: wholeNumber(1),
    default: 8,
  }),
  fragmentation: option({
    flags: '--fragmentation <share>',
    help: 'share of scattered pages, 0 to 1',
    kind: numberBetween(0, 1),
    default: 0.5,
  }),
  coalesce: option({
    flags: '--coalesce <on|off>',
    help: 'merge pages adjacent at both ends',
    kind: choice(['on', 'off']),
    default: 'on',
  }),
  rate: option({
    flags: '--rate <count>',
    help: 'requests per second',
    kind: numberAbove(0),
    defaultText: 'all at once',
  }),
  burst: option({
    flags: '--burst <count>',
    help: 'requests that arrive together',
    kind: wholeNumber(1),
    default: 1,
  }),
  arrivals: option({
    flags: '--arrivals <kind>',
    help: 'arrival times: poisson, even',
    kind: choice(['poisson', 'even']),
    default: 'poisson',
  }),
  seed: option({
    flags: '--seed <number>',
    help: 'seed of page placement and arrivals',
    kind: wholeNumber(0, 2 ** 32 - 1),
    default: 1,
  }),
};

type Options = typeof options;

/** Of the times of requests, as many quantiles are kept. */
const keptQuantiles = 201;

export const kv = defineBenchmark({
  id: 'kv',
  summary: 'Hand over KV caches from prefill to decode ranks, page by page, pushed or pulled.',
  ranks: { min: 2, usual: 4 },
  usualRanks: ({ options: { prefill, decode } }) =>
    prefill !== undefined && decode !== undefined ? prefill + decode : undefined,
  columns: variants(['Push', 'Pull'], columns([multi, roundRobin], [pinned, device])),
  sizes: { minBytes: 4 * 2 ** 10, maxBytes: 2 ** 20, factor: 4 },
  options,
  clock: 'slowest',
  pattern: 'kv',
  check,
  preflight: ({ options: { prefill, decode } }, world) => {
    rolesOf({ world, prefill, decode });
  },
  operationBytes: ({ bytes }) => bytes,
  turns: (situation) => {
    const traffic = trafficOf(situation);
    const line = busiestBytes(traffic);
    return [
      {
        traffic,
        plan: (how) => kvPlan(traffic, how).plan,
        marks: (how) => kvPlan(traffic, how).marks,
        figureBytes: { figure: line, line },
      },
    ];
  },
  figures,
});

function check({ settings, options }: Asked<Options>): void {
  refuseEmpty(settings, 'a page');
  if (options.rate === undefined && options.burst > 1) {
    throw new WeftError('BAD_USAGE', '`burst` needs `rate`', {
      hint: 'Without a rate, all requests arrive at once.',
    });
  }
  const last = arrivalsOf(options)?.at(-1) ?? 0;
  refuseLate(settings, 'the last request', last, 'a higher `rate`, fewer `requests`');
}

const arrivalsOf = ({ rate, ...options }: Asked<Options>['options']): number[] | undefined =>
  rate === undefined ? undefined : kvArrivals({ ...options, perSecond: rate });

const trafficOf = (
  { world, bytes, variant, options }: Situation<Options>,
  coalesce = options.coalesce === 'on',
): Traffic =>
  kvTraffic({
    ...options,
    ...{ world, pageBytes: bytes, coalesce, pull: variant === 'Pull' },
    arrivals: arrivalsOf(options),
  });

const ranksOf = ({ world }: Traffic): number[] => Array.from({ length: world }, (_, rank) => rank);

/** Writes or reads of pages in an iteration, by all ranks. */
function operationsOf(
  traffic: Traffic,
  strategy: Strategy,
  { channels, chunkBytes }: Plan,
): number {
  const ofBlocks = ranksOf(traffic).flatMap((rank) =>
    traffic
      .outgoing(rank)
      .flatMap((block) =>
        placePieces(block, strategy, channels).map(({ offset, bytes }) =>
          chunksOf({ bytes, parts: partsWithin(block, offset, bytes) }, chunkBytes),
        ),
      ),
  );
  return ofBlocks.reduce((sum, count) => sum + count, 0);
}

function figures({ situation, turns, plans, marks, nanoseconds }: Timed<Options>) {
  const { traffic } = turns[0]!;
  const { strategy, options } = situation;
  const operations = operationsOf(traffic, strategy, plans[0]!);
  const apart = operationsOf(trafficOf(situation, false), strategy, plans[0]!);
  const bytes = options.requests * options.layers * options.pages * situation.bytes;
  const times = marks[0]!;
  const [p50, p99] = times.percentiles([50, 99]);
  return {
    operationsPerSecond: (operations * 1e9) / nanoseconds.mean,
    handedOverGBps: gigabytesPerSecond(bytes, nanoseconds.mean),
    coalescedPercent: (1 - operations / apart) * 100,
    lastPageP50Nanoseconds: p50!,
    lastPageP99Nanoseconds: p99!,
    requestTimes: {
      requests: times.count,
      quantiles: times.spread(keptQuantiles).map(Math.round),
    },
  };
}
