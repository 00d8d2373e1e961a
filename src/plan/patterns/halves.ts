import type { RankPair } from '../rounds.js';

/**
 * Pairs a rank of the lower half with one of the upper half, both in rank order. Ranks of one host stay together: with
 * several hosts, the halves are the first hosts and the others, cut as near to the middle as whole hosts allow. Ranks
 * that the larger half has more stay idle.
 */
export function halves(hosts: readonly string[]): RankPair[] {
  const names = [...new Set(hosts)];
  const ranks = names.flatMap((name) =>
    hosts.flatMap((host, rank) => (host === name ? [rank] : [])),
  );
  const cut = names.length > 1 ? cutBetween(hosts, names) : Math.floor(ranks.length / 2);
  const [lower, upper] = [ranks.slice(0, cut), ranks.slice(cut)];
  return lower.slice(0, upper.length).map((rank, i): RankPair => [rank, upper[i]!]);
}

/** How many ranks the first hosts have, for the number of hosts that comes nearest to half of all ranks. */
function cutBetween(hosts: readonly string[], names: readonly string[]): number {
  const cuts = names
    .slice(0, -1)
    .map((_, last) => hosts.filter((host) => names.indexOf(host) <= last).length);
  const distance = (cut: number) => Math.abs(2 * cut - hosts.length);
  return cuts.reduce((best, cut) => (distance(cut) < distance(best) ? cut : best));
}
