import { seededRandom, seedOf, shuffled } from '../measure/seeded-random.js';
import { checkCount, checkWorld } from './traffic.js';

/** The experts of one rank's tokens, one token after the other. */
export interface RoutedTokens {
  readonly count: number;
  /** Where the experts of each token begin; one more entry ends the last. */
  readonly starts: Uint32Array;
  readonly experts: Uint32Array;
  /** By entry of `experts`: its weight in the token's sum, in sixteenths. Those of a token add up to 16. */
  readonly sixteenths: Uint8Array;
}

/** Which experts each token of each rank goes to, and where the experts are. The same on every rank. */
export interface Routing {
  readonly world: number;
  /** By expert: the rank that hosts it. */
  readonly hostOf: Uint16Array;
  /** By rank. */
  readonly tokens: readonly RoutedTokens[];
}

/** Weights are sixteenths, so that sums are exact in every dtype: a token has at most as many experts. */
export const mostTopK = 16;

export const placements = ['block', 'round-robin'] as const;
export type Placement = (typeof placements)[number];

/** `block`: each rank hosts neighbouring experts. `round-robin`: expert e is on rank e modulo `world`. */
export function placeExperts(experts: number, world: number, placement: Placement): Uint16Array {
  checkWorld(world);
  checkCount('experts', experts);
  return Uint16Array.from({ length: experts }, (_, expert) =>
    placement === 'block' ? Math.floor((expert * world) / experts) : expert % world,
  );
}

/** How popular experts are. */
export type Popularity =
  | { readonly kind: 'uniform' }
  /** The n-th most popular expert is chosen in proportion to 1 / n^exponent. */
  | { readonly kind: 'zipf'; readonly exponent: number }
  /** So many experts get this share of all choices. */
  | { readonly kind: 'hot'; readonly experts: number; readonly share: number };

interface Draw {
  readonly tokens: number;
  readonly world: number;
  readonly experts: number;
  readonly topK: number;
  readonly popularity: Popularity;
  readonly seed: number;
}

/** Draws `topK` different experts and their weights for every token. The seed also decides which experts are popular. */
export function drawTokens({ tokens, world, experts, topK, popularity, seed }: Draw) {
  const order = shuffled(experts, seededRandom(seedOf(seed, 0)));
  const shares = sharesOf(experts, popularity);
  const cumulative = new Float64Array(experts);
  let sum = 0;
  for (let place = 0; place < experts; place++) {
    sum += shares[place]!;
    cumulative[place] = sum;
  }
  return Array.from({ length: world }, (_, rank) => {
    const random = seededRandom(seedOf(seed, rank + 1));
    const chosen = new Uint32Array(tokens * topK);
    for (let token = 0; token < tokens; token++) {
      const own = chosen.subarray(token * topK, (token + 1) * topK);
      for (let k = 0; k < topK; k++)
        own[k] = another(own.subarray(0, k), shares, cumulative, random);
    }
    const starts = Uint32Array.from({ length: tokens + 1 }, (_, token) => token * topK);
    return weighed(
      starts,
      chosen.map((place) => order[place]!),
      random,
    );
  });
}

/** Tokens with weights drawn for their experts. */
export function weighed(
  starts: Uint32Array,
  experts: Uint32Array,
  random: () => number,
): RoutedTokens {
  const sixteenths = new Uint8Array(experts.length).fill(1);
  const count = starts.length - 1;
  for (let token = 0; token < count; token++) {
    const [from, to] = [starts[token]!, starts[token + 1]!];
    for (let left = mostTopK - (to - from); left > 0; left--) {
      sixteenths[from + Math.floor(random() * (to - from))]!++;
    }
  }
  return { count, starts, experts, sixteenths };
}

/** By place in the order of popularity; in proportion. */
function sharesOf(experts: number, popularity: Popularity): Float64Array {
  const all = new Float64Array(experts).fill(1);
  if (popularity.kind === 'zipf') return all.map((_, i) => (i + 1) ** -popularity.exponent);
  if (popularity.kind === 'uniform' || popularity.experts >= experts) return all;
  const { experts: hot, share } = popularity;
  return all.map((_, i) => (i < hot ? share / hot : (1 - share) / (experts - hot)));
}

const mostRefusals = 16;

/** One that is not among `taken`. Drawing again is quick unless those that are taken have nearly all of the shares. */
function another(
  taken: Uint32Array,
  shares: Float64Array,
  cumulative: Float64Array,
  random: () => number,
): number {
  const all = cumulative.at(-1)!;
  for (let i = 0; i < mostRefusals; i++) {
    const found = placeOf(cumulative, random() * all);
    if (!taken.includes(found)) return found;
  }
  const leftOf = (share: (place: number) => number) =>
    shares.map((_, place) => (taken.includes(place) ? 0 : share(place)));
  const sumOf = (values: Float64Array) => values.reduce((sum, share) => sum + share, 0);
  let left = leftOf((place) => shares[place]!);
  // Where those that are taken have all of the shares, the others are alike.
  if (sumOf(left) === 0) left = leftOf(() => 1);
  let aim = random() * sumOf(left);
  let last = -1;
  for (let place = 0; place < left.length; place++) {
    if (taken.includes(place)) continue;
    last = place;
    aim -= left[place]!;
    if (aim < 0) break;
  }
  return last;
}

function placeOf(cumulative: Float64Array, aim: number): number {
  let [low, high] = [0, cumulative.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (cumulative[middle]! > aim) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** By rank and expert: how many of the rank's tokens go to the expert. */
export const expertCounts = ({ tokens, hostOf }: Routing): Uint32Array[] =>
  tokens.map(({ experts }) => {
    const counts = new Uint32Array(hostOf.length);
    for (const expert of experts) counts[expert]!++;
    return counts;
  });
