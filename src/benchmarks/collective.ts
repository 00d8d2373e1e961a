import { WeftError } from '../errors.js';
import { formatBytes } from '../measure/units.js';
import { hasAllInEachLine, numbersFor } from '../memory/numbers.js';
import { type Collective, elementBytesOf } from '../plan/collective.js';
import {
  type CollectiveTraffic,
  collectivePieceBytes,
} from '../plan/patterns/collective-layout.js';
import { collective } from '../plan/patterns/collectives.js';
import type { RouteId } from '../plan/patterns/routes.js';
import { type SumDtype, sumDtypes } from '../plan/plan.js';
import type { Traffic } from '../plan/traffic.js';
import type { Turn } from '../runner/benchmark.js';
import { sizesOf } from '../runner/sizes.js';
import { choice, type Option, option } from '../settings/option.js';
import type { Settings } from '../settings/table.js';

/** From 64 KiB to 16 MiB per rank with 4 of them. */
export const collectiveSizes = { minBytes: 256 * 2 ** 10, maxBytes: 64 * 2 ** 20, factor: 4 };

/** How blocks travel: by one of these routes, or whichever is best for the size and the number of ranks. */
export const algorithmOption = <const R extends RouteId>(
  ids: readonly R[],
): Option<'auto' | R, 'auto' | R> =>
  option({
    flags: '--algorithm <name>',
    help: `algorithm: ${['auto', ...ids].join(', ')}`,
    kind: choice<'auto' | R>(['auto', ...ids]),
    default: 'auto',
  });

/** The type of the numbers that are added. */
export const dtypeOption = option({
  flags: '--dtype <type>',
  help: sumDtypes.join(', '),
  kind: choice(sumDtypes),
  default: 'float32',
});

/** Refuses sizes that end in the middle of a number. */
export function checkWholeNumbers(
  settings: Settings,
  { dtype }: { readonly dtype: SumDtype },
): void {
  const each = elementBytesOf(dtype);
  const odd = sizesOf(settings).find((bytes) => bytes % each !== 0);
  if (odd === undefined) return;
  throw new WeftError(
    'BAD_USAGE',
    `${formatBytes(odd)} bytes is not a whole number of ${dtype} elements`,
    { hint: `Use sizes that are multiples of ${each}.` },
  );
}

/**
 * The route of a broadcast that nobody chose. A ring sends every byte once per link, and pays as soon as there are
 * pieces for all of its ranks: with 4 ranks on 2 cores it took half the time of the others at 16 MiB. Shorter buffers are
 * about latency: three ranks are served one by one, more in the rounds of a tree.
 */
export function broadcastRoute(world: number, bytes: number): RouteId {
  if (bytes >= world * collectivePieceBytes) return 'ring';
  return world > 4 ? 'tree' : 'direct';
}

/** Refuses sums in which the check could miss a rank: only ever of 16-bit numbers of hundreds of ranks. */
function checkTellsRanks({ dtype, weight }: NonNullable<Traffic['numbers']>, bytes: number): void {
  if (hasAllInEachLine(numbersFor(dtype, weight), bytes)) return;
  throw new WeftError(
    'BAD_USAGE',
    `Weft cannot check a sum of ${formatBytes(bytes)} of ${dtype} over ${weight} ranks: not all of them fit one exact sum`,
    { hint: 'Use sizes that are multiples of 64, or --dtype float32.' },
  );
}

/** One collective of all ranks. */
export function collectiveTurn(subject: CollectiveTraffic): Turn {
  const { traffic, plan } = collective(subject);
  const { bytes, root = 0, route } = subject;
  if (traffic.numbers) checkTellsRanks(traffic.numbers, bytes);
  // Nobody sends more than the root of a broadcast; otherwise all ranks send the same, but for a cache line.
  const line = traffic.outgoing(root).reduce((sum, block) => sum + block.bytes, 0);
  return { traffic, plan, figureBytes: { figure: bytes, line }, algorithm: route.title };
}

/** The same for other libraries; undefined where the bytes are no equal shares of whole numbers, which they ask for. */
export function sharedEqually(
  kind: 'allgather' | 'reduce-scatter',
  { world, bytes }: { readonly world: number; readonly bytes: number },
  dtype: SumDtype,
): Collective | undefined {
  const shared = bytes % (world * elementBytesOf(dtype)) === 0;
  return shared ? { kind, bytes: bytes / world, dtype } : undefined;
}
