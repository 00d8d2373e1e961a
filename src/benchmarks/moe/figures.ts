import { gbpsOf } from '../../measure/units.js';
import { allToAllV, type Collective } from '../../plan/collective.js';
import { expertCounts, type Routing } from '../../plan/routing.js';
import type { RoutingFacts } from '../../results/routing.js';
import type { Situation, Timed } from '../../runner/benchmark.js';
import { layoutOf, routingOf, sentTokens } from './layer.js';
import { combineBytes, dispatchBytes, type MoeOptions } from './options.js';

/** Bytes that each rank sends and receives in one iteration. */
export function rankBytes(situation: Situation<MoeOptions>): { out: number; in: number }[] {
  const { options, variant } = situation;
  const there = variant === 'Combine' ? 0 : dispatchBytes(options);
  const back = variant === 'Dispatch' ? 0 : combineBytes(options);
  // What goes out as tokens comes back as vectors.
  return sentTokens(layoutOf(situation)).map((tokens) => ({
    out: tokens.out * there + tokens.in * back,
    in: tokens.in * there + tokens.out * back,
  }));
}

/** The same bytes between the same ranks; the sums of a combine are not part of it. */
export function alltoallvOf(situation: Situation<MoeOptions>): Collective | undefined {
  const { world, options, variant } = situation;
  if (variant === 'Both') return undefined;
  const layout = layoutOf(situation);
  const dispatch = variant === 'Dispatch';
  const bytes = dispatch ? dispatchBytes(options) : combineBytes(options);
  const tokens = (from: number, to: number) =>
    dispatch ? layout.between(from, to) : layout.between(to, from);
  return allToAllV(world, (from, to) => (from === to ? 0 : tokens(from, to) * bytes), bytes);
}

const total = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0);

/** The mean over ranks of what they send. */
export const meanSent = (situation: Situation<MoeOptions>): number =>
  total(rankBytes(situation).map((rank) => rank.out)) / situation.world;

/** What tells the routing of a row, and how much it has to carry. */
export function moeFigures({ situation, nanoseconds }: Timed<MoeOptions>) {
  const { routing, hash } = routingOf(situation);
  const ranks = rankBytes(situation);
  const mean = meanSent(situation);
  const sent = total(sentTokens(layoutOf(situation)).map((rank) => rank.out));
  const wanted = choicesElsewhere(routing);
  const tokens = total(routing.tokens.map(({ count }) => count));
  const busiest = Math.max(...ranks.map((rank) => Math.max(rank.out, rank.in)));
  const dedup = sent === 0 ? 1 : wanted / sent;
  return {
    tokensPerSecond: (tokens / nanoseconds.mean) * 1e9,
    usefulGbps: gbpsOf(mean * dedup, nanoseconds.mean),
    imbalance: mean === 0 ? 1 : busiest / mean,
    routing: {
      kind: situation.options.routing,
      hash,
      tokens: routing.tokens.map(({ count }) => count),
      dedup,
      bytesOut: ranks.map((rank) => rank.out),
      bytesIn: ranks.map((rank) => rank.in),
      ...shownCounts(routing),
    } satisfies RoutingFacts,
  };
}

/** How often a token is routed to an expert on another rank. */
function choicesElsewhere({ tokens, hostOf }: Routing): number {
  let count = 0;
  tokens.forEach(({ experts }, rank) => {
    for (const expert of experts) if (hostOf[expert] !== rank) count++;
  });
  return count;
}

/** A heat map with more cells than this shows no single one of them. */
const mostRanks = 64;
const mostExperts = 256;

/** By rank and expert; neighbours are added up where there are too many of them to be drawn. */
function shownCounts(routing: Routing): Pick<RoutingFacts, 'counts' | 'hosts' | 'experts'> {
  const { world, hostOf } = routing;
  const experts = hostOf.length;
  const rows = Math.min(world, mostRanks);
  const columns = Math.min(experts, mostExperts);
  const counts = Array.from({ length: rows }, () => new Array<number>(columns).fill(0));
  expertCounts(routing).forEach((own, rank) => {
    const row = counts[Math.floor((rank * rows) / world)]!;
    own.forEach((count, expert) => {
      row[Math.floor((expert * columns) / experts)]! += count;
    });
  });
  return { counts, experts, ...(columns === experts && { hosts: [...hostOf] }) };
}
