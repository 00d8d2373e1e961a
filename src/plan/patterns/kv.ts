import { WeftError } from '../../errors.js';
import { leastMultiple } from '../../measure/divisors.js';
import { seededRandom, seedOf, shuffled } from '../../measure/seeded-random.js';
import {
  addPart,
  type Block,
  type BlockPart,
  checkBytes,
  checkCount,
  type Traffic,
} from '../traffic.js';

/** Caches of requests that move from the ranks that filled them to the ranks that read on. */
export interface KvTraffic {
  readonly world: number;
  /** The first ranks; default: half of all. */
  readonly prefill?: number | undefined;
  /** The ranks after them. With neither given, all others. */
  readonly decode?: number | undefined;
  readonly requests: number;
  readonly layers: number;
  /** Of each layer of a request. */
  readonly pages: number;
  readonly pageBytes: number;
  /** How often a page does not follow the page before it in memory, 0 to 1; at both ends apart. */
  readonly fragmentation: number;
  /** Pages that follow each other at both ends travel as one part. */
  readonly coalesce: boolean;
  /** Decides where pages lie. */
  readonly seed: number;
  /** Nanoseconds from the start of the iteration to each request's start; default: all start at once. */
  readonly arrivals?: readonly number[] | undefined;
  /** Decode ranks read instead of being written to. */
  readonly pull?: boolean | undefined;
}

/** A pool has this much more room than pages. */
const poolSlack = 0.25;

/**
 * Request i goes from prefill rank i % N to the decode ranks in turn, in such an order that every pair gets its share.
 * A rank has a pool of page slots per layer, and a page table that names the slots of its requests: the same slots in
 * every layer, as inference servers have it.
 */
export function kvTraffic(options: KvTraffic): Traffic {
  const { world, layers, pageBytes, pull = false } = options;
  const { prefill, decode } = rolesOf(options);
  for (const key of ['requests', 'layers', 'pages'] as const) checkCount(key, options[key]);
  checkBytes('pageBytes', pageBytes);
  const ends = endsOf(options.requests, prefill, decode);
  const tables = pageTables(ends, options);
  const outgoing: Block[][] = tables.map(() => []);
  const incoming: Block[][] = tables.map(() => []);
  for (const block of blocksOf(ends, tables, options)) {
    outgoing[block.source]!.push(block);
    incoming[block.target]!.push(block);
  }
  const bytesOf = (rank: number) => tables[rank]!.pool * layers * pageBytes;
  return {
    title: `KV-cache hand-off, ${pull ? 'pull' : 'push'}`,
    world,
    sequential: false,
    startedBy: 'target',
    ...(pull && { readable: true }),
    outgoing: (rank) => outgoing[rank]!,
    incoming: (rank) => incoming[rank]!,
    sourceBytes: (rank) => (rank < prefill ? bytesOf(rank) : 0),
    targetBytes: (rank) => (rank < prefill ? 0 : bytesOf(rank)),
  };
}

/** How many ranks prefill and how many decode. Throws BAD_USAGE where that is not all of them. */
export function rolesOf({
  world,
  prefill,
  decode,
}: Pick<KvTraffic, 'world' | 'prefill' | 'decode'>) {
  const first = prefill ?? (decode === undefined ? Math.floor(world / 2) : world - decode);
  const roles = { prefill: first, decode: decode ?? world - first };
  if (roles.prefill >= 1 && roles.decode >= 1 && roles.prefill + roles.decode === world) {
    return roles;
  }
  const given = [
    ...(prefill === undefined ? [] : [`${prefill} prefill`]),
    ...(decode === undefined ? [] : [`${decode} decode`]),
  ];
  throw new WeftError(
    'BAD_USAGE',
    `${given.join(' and ') || 'prefill and decode'} ranks do not fit ${world} ranks`,
    { hint: 'Every rank is a prefill or a decode rank, and there must be at least one of each.' },
  );
}

interface Ends {
  readonly source: number;
  readonly target: number;
}

/** Source and target of every request. After each round of all pairs of turns, decode ranks move on by one. */
function endsOf(requests: number, prefill: number, decode: number): Ends[] {
  const round = leastMultiple(prefill, decode);
  return Array.from({ length: requests }, (_, i) => ({
    source: i % prefill,
    target: prefill + ((i + Math.floor(i / round)) % decode),
  }));
}

/** Where the pages of all requests of a rank lie, by rank. */
const pageTables = (
  ends: readonly Ends[],
  { world, pages, fragmentation, seed }: KvTraffic,
): Layout[] =>
  Array.from({ length: world }, (_, rank) => {
    const held = ends.filter(({ source, target }) => source === rank || target === rank).length;
    return pageTable(held * pages, fragmentation, seedOf(seed, rank));
  });

/** One block for each request. At each of its ends it takes the next pages of the rank's table. */
function blocksOf(ends: readonly Ends[], tables: readonly Layout[], options: KvTraffic): Block[] {
  const { layers, pages, pageBytes, arrivals } = options;
  const used = new Uint32Array(tables.length);
  const nextPages = (rank: number): Layout => {
    const { slots, pool } = tables[rank]!;
    const first = used[rank]!;
    used[rank] = first + pages;
    return { slots: slots.slice(first, first + pages), pool };
  };
  const buffers = new Map<string, number>();
  return ends.map(({ source, target }, i) => {
    const pair = `${source} ${target}`;
    const buffer = buffers.get(pair) ?? 0;
    buffers.set(pair, buffer + 1);
    const parts = partsBetween(nextPages(source), nextPages(target), options);
    const { sourceOffset, targetOffset } = parts[0]!;
    const at = arrivals?.[i] ?? 0;
    return {
      ...{ source, target, buffer, sourceOffset, targetOffset },
      bytes: layers * pages * pageBytes,
      ...(parts.length > 1 && { parts }),
      ...(at > 0 && { notBefore: at }),
    };
  });
}

/** Where the pages of a rank lie: runs of pages that follow each other, in any order, with gaps between them. */
function pageTable(pages: number, fragmentation: number, seed: number): Layout {
  const random = seededRandom(seed);
  const below = (most: number) => Math.floor(random() * most);
  const runs: { first: number; length: number; gap: number }[] = [];
  for (let page = 0; page < pages; page++) {
    const last = runs.at(-1);
    if (last === undefined || random() < fragmentation)
      runs.push({ first: page, length: 1, gap: 0 });
    else last.length++;
  }
  const placed = Array.from(shuffled(runs.length, random), (index) => runs[index]!);
  const free = Math.ceil(pages * poolSlack);
  for (let i = 0; i < free; i++) {
    // One place more than there are runs: the rest of the pool.
    const run = placed[below(placed.length + 1)];
    if (run !== undefined) run.gap++;
  }
  const slots = new Array<number>(pages);
  let next = 0;
  for (const { first, length, gap } of placed) {
    next += gap;
    for (let i = 0; i < length; i++) slots[first + i] = next++;
  }
  return { slots, pool: pages + free };
}

interface Layout {
  readonly slots: readonly number[];
  /** Slots of a layer. */
  readonly pool: number;
}

function partsBetween(
  from: Layout,
  to: Layout,
  { layers, pageBytes: bytes, coalesce }: KvTraffic,
): BlockPart[] {
  const parts: { sourceOffset: number; targetOffset: number; bytes: number }[] = [];
  for (let layer = 0; layer < layers; layer++) {
    for (const [page, slot] of from.slots.entries()) {
      const sourceOffset = (layer * from.pool + slot) * bytes;
      const targetOffset = (layer * to.pool + to.slots[page]!) * bytes;
      const part = { sourceOffset, targetOffset, bytes };
      if (coalesce) addPart(parts, part);
      else parts.push(part);
    }
  }
  return parts;
}

/** When requests start, in nanoseconds: groups of `burst`, evenly or as a Poisson process, `perSecond` requests in all. */
export function kvArrivals(options: {
  readonly requests: number;
  readonly perSecond: number;
  readonly burst: number;
  readonly arrivals: 'poisson' | 'even';
  readonly seed: number;
}): number[] {
  const { requests, perSecond, burst, arrivals, seed } = options;
  const random = seededRandom(seedOf(seed, -1));
  const meanGap = (burst / perSecond) * 1e9;
  let now = 0;
  return Array.from({ length: requests }, (_, i) => {
    if (i > 0 && i % burst === 0)
      now += arrivals === 'even' ? meanGap : -Math.log(1 - random()) * meanGap;
    return Math.round(now);
  });
}
