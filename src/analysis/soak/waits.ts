import type { Suspect } from '../../results/soak.js';
import type { Places } from './blame.js';

/** A stretch in which nothing completed on a rank, and the transfers that it waited for. */
export interface Waits {
  readonly rank: number;
  /** It had done its part. */
  readonly barrier: boolean;
  readonly open: readonly { readonly peer: number; readonly channel: number | undefined }[];
}

interface Edge {
  readonly from: number;
  readonly to: number;
}

/**
 * Whom the waiting ranks have in common. Where two ranks wait for each other, the link between them is in question, and
 * whoever waits for one of those waits as a consequence. Where all that is in question meets at one host, that host is
 * named, otherwise both ends. Ranks that are awaited and wait for nobody do not respond.
 */
export function suspectsOfWaits(waits: readonly Waits[], places: Places): Suspect[] {
  const edges = waits.flatMap(({ rank, open }) =>
    [...new Set(open.map(({ peer }) => peer))].map((to): Edge => ({ from: rank, to })),
  );
  if (edges.length === 0) return [];
  const known = new Set(edges.map(({ from, to }) => `${from} ${to}`));
  const mutual = edges.filter(({ from, to }) => known.has(`${to} ${from}`));
  const waiting = new Set(edges.map(({ from }) => from));
  const silent = [...new Set(edges.map(({ to }) => to))].filter((rank) => !waiting.has(rank));
  if (mutual.length === 0 && silent.length > 0) return named(silent, places, 'awaited', undefined);
  const nic = channelOf(waits);
  const { hosts } = places;
  const between = mutual.length > 0 ? mutual : edges;
  const pairs = between.map(({ from, to }) => [hosts[from]!, hosts[to]!]);
  const others = (host: string) => new Set(pairs.flat().filter((one) => one !== host)).size;
  const shared = [...new Set(pairs.flat())].filter(
    (host) => pairs.every((ends) => ends.includes(host)) && others(host) > 1,
  );
  const ranks = [...new Set(between.flatMap(({ from, to }) => [from, to]))];
  if (shared.length !== 1) return named(ranks, places, 'pair', nic);
  return named(
    ranks.filter((rank) => hosts[rank] === shared[0]),
    places,
    'awaited',
    nic,
  );
}

/** The one channel that all open transfers use, where they say which. */
function channelOf(waits: readonly Waits[]): number | undefined {
  const channels = new Set(
    waits.flatMap(({ open }) => open.flatMap(({ channel }) => channel ?? [])),
  );
  return channels.size === 1 ? [...channels][0] : undefined;
}

const mostNamed = 8;

function named(
  ranks: readonly number[],
  { hosts, nics }: Places,
  why: Suspect['why'],
  channel: number | undefined,
): Suspect[] {
  const byPlace = new Map<string, Suspect>();
  for (const rank of [...ranks].sort((a, b) => a - b)) {
    const host = hosts[rank]!;
    const nic = channel === undefined ? undefined : nics[rank]?.[channel];
    const key = `${host} ${nic}`;
    const before = byPlace.get(key)?.ranks ?? [];
    byPlace.set(key, { host, ranks: [...before, rank], ...(nic !== undefined && { nic }), why });
  }
  return [...byPlace.values()].slice(0, mostNamed);
}
