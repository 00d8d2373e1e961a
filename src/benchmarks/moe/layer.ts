import { createHash } from 'node:crypto';
import { WeftError } from '../../errors.js';
import { plural } from '../../measure/units.js';
import { type MoeLayer, MoeLayout } from '../../plan/patterns/moe-layout.js';
import { drawTokens, placeExperts, type RoutedTokens, type Routing } from '../../plan/routing.js';
import type { Situation } from '../../runner/benchmark.js';
import { remembered } from '../input-file.js';
import {
  combineBytes,
  dispatchBytes,
  type MoeOptions,
  type MoeValues,
  microBatchesOf,
  popularityOf,
  tokenCounts,
} from './options.js';
import { readRouting } from './routing-file.js';

/** A routing and a short hash of it: every token's experts and weights, and where the experts are. */
export interface KnownRouting {
  readonly routing: Routing;
  readonly hash: string;
}

type What = Pick<Situation<MoeOptions>, 'world' | 'bytes' | 'options'>;

/** The sizes of the rows: the tokens of a rank, in bytes. */
export const rowBytes = (options: MoeValues): number[] =>
  countsOf(options).map((tokens) => tokens * dispatchBytes(options));

function countsOf(options: MoeValues): number[] {
  if (popularityOf(options.routing)) return tokenCounts(options);
  return [Math.max(...fileTokens(options).map(({ count }) => count))];
}

const readOnce = remembered(readRouting, 1);
const fileTokens = ({ routing, experts, topK, seed }: MoeValues): RoutedTokens[] =>
  readOnce({ path: routing, experts, topK, seed });

const routingOnce = remembered(makeRouting, 4);
const layoutOnce = remembered(makeLayout, 4);

/** The routing of a row. */
export function routingOf({ world, bytes, options }: What): KnownRouting {
  const { routing, seed, experts, topK, placement } = options;
  const tokens = bytes / dispatchBytes(options);
  return routingOnce({ world, tokens, routing, seed, experts, topK, placement });
}

type Drawn = Pick<MoeValues, 'routing' | 'seed' | 'experts' | 'topK' | 'placement'> & {
  readonly world: number;
  readonly tokens: number;
};

function makeRouting({ world, tokens: count, routing: asked, ...rest }: Drawn): KnownRouting {
  const { seed, experts, topK, placement } = rest;
  const popularity = popularityOf(asked);
  const tokens = popularity
    ? drawTokens({ tokens: count, world, experts, topK, popularity, seed })
    : readOnce({ path: asked, experts, topK, seed });
  if (tokens.length !== world) {
    throw new WeftError(
      'BAD_USAGE',
      `${asked} has the tokens of ${plural(tokens.length, 'rank')}, but there are ${world} ranks`,
      { hint: `Run it with ${plural(tokens.length, 'rank')}.` },
    );
  }
  const routing = { world, hostOf: placeExperts(experts, world, placement), tokens };
  return { routing, hash: hashOf(routing) };
}

function hashOf({ world, hostOf, tokens }: Routing): string {
  const hash = createHash('sha256').update(`${world} ${hostOf.length}\n`).update(hostOf);
  for (const { starts, experts, sixteenths } of tokens) {
    hash.update(starts).update(experts).update(sixteenths);
  }
  return hash.digest('hex').slice(0, 12);
}

/** Slices are not smaller than this between two ranks, on average: each costs a message. */
const sliceBytes = 2 ** 20;
const mostSlices = 16;
/** Of all micro-batches: they are numbered in immediates. */
const mostOfAll = 64;

const phases = { Dispatch: 'dispatch', Combine: 'combine', Both: 'both' } as const;
export type Variant = keyof typeof phases;
export const moeVariants = Object.keys(phases) as Variant[];

/** Where everything of a row lies. */
export const layoutOf = ({ world, bytes, options, variant }: Situation<MoeOptions>): MoeLayout =>
  layoutOnce({ world, bytes, options, variant: variant as Variant });

function makeLayout(situation: What & { readonly variant: Variant }): MoeLayout {
  const { options, variant } = situation;
  const { routing } = routingOf(situation);
  const layer: MoeLayer = {
    routing,
    dispatchBytes: dispatchBytes(options),
    combineBytes: combineBytes(options),
    phase: phases[variant],
    microBatches: variant === 'Both' ? microBatchesOf(options) : 1,
    slices: 1,
  };
  const whole = new MoeLayout(layer);
  const { world } = routing;
  const sent = sentTokens(whole).reduce((sum, { out }) => sum + out, 0);
  const bytes = variant === 'Dispatch' ? layer.dispatchBytes : layer.combineBytes;
  const between = (sent * bytes) / (world * (world - 1)) / layer.microBatches;
  const most = Math.min(mostSlices, Math.floor(mostOfAll / layer.microBatches));
  const slices = Math.min(most, Math.max(1, Math.floor(between / sliceBytes)));
  return slices === 1 ? whole : new MoeLayout({ ...layer, slices });
}

/** By rank: tokens that leave for other ranks' experts, and that arrive from other ranks. */
export function sentTokens(layout: MoeLayout): { out: number; in: number }[] {
  const ranks = Array.from({ length: layout.world }, () => ({ out: 0, in: 0 }));
  for (let origin = 0; origin < layout.world; origin++) {
    for (let host = 0; host < layout.world; host++) {
      if (origin === host) continue;
      const count = layout.between(origin, host);
      ranks[origin]!.out += count;
      ranks[host]!.in += count;
    }
  }
  return ranks;
}
