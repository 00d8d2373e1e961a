import { placesOf } from './places.js';
import { lateBlocks } from './starts.js';
import type { Strategy } from './strategies.js';
import { type Block, checkCount, type Traffic } from './traffic.js';

/** What a channel goes through. Channels that name the same NIC share its rate. */
export interface Link {
  readonly nic?: string | undefined;
  readonly lineRateGbps?: number | undefined;
}

/** Which ranks share NICs, and what uses none. Each list is by rank. */
export interface Wiring {
  readonly hosts: readonly string[];
  /** Of each channel. Default: ranks of a host use the same ones. */
  readonly nics?: readonly (readonly string[])[];
  /** What stays inside a host goes through its NICs too, as RDMA devices do it. Default: it loads none. */
  readonly localOverNics?: boolean;
}

/** Bytes per place and channel: entry place × channels + channel. A place is a rank, or all ranks that share NICs. */
export interface Load {
  readonly places: number;
  readonly channels: number;
  readonly sequential: boolean;
  readonly out: Float64Array;
  readonly in: Float64Array;
}

/** The best that the links allow. Full duplex: what a rank sends does not slow what it receives. */
export interface Bound {
  /** Undefined where a line rate that matters is not known. */
  readonly nanoseconds: number | undefined;
  /**
   * Of the aggregate rate of the channels the strategy may use, how much the busiest sender could
   * fill: 0.75 for round-robin to 3 targets over 4 NICs. Without any line rate, links count as equal.
   */
  readonly fraction: number | undefined;
}

/**
 * Cheap at 512 ranks: no plan is made, and blocks of one size are split once. Without a wiring, or where all ranks are on
 * one host whose NICs carry nothing between them, every rank counts as having NICs of its own.
 */
export function loadOfTraffic(
  traffic: Traffic,
  strategy: Strategy,
  channels: number,
  wiring?: Wiring,
): Load {
  checkCount('channels', channels);
  const { places, placeOf, isLocal } = placesOf(traffic.world, wiring);
  const load: Load = {
    places,
    channels,
    sequential: traffic.sequential,
    out: new Float64Array(places * channels),
    in: new Float64Array(places * channels),
  };
  const eachPiece = piecesOf(strategy, channels);
  for (let rank = 0; rank < traffic.world; rank++) {
    const from = placeOf(rank);
    for (const block of traffic.outgoing(rank)) {
      if (isLocal(rank, block.target)) continue;
      const to = placeOf(block.target);
      eachPiece(block, (channel, bytes) => {
        load.out[from * channels + channel]! += bytes;
        load.in[to * channels + channel]! += bytes;
      });
    }
  }
  return load;
}

/** Calls back for every piece of a block. */
function piecesOf(strategy: Strategy, channels: number) {
  const splits = new Map<number, readonly { bytes: number }[]>();
  return (
    { source: rank, target: peer, buffer, bytes, unitBytes }: Block,
    visit: (channel: number, bytes: number) => void,
  ): void => {
    let pieces = unitBytes === undefined ? splits.get(bytes) : undefined;
    if (pieces === undefined) {
      pieces = strategy.split(bytes, channels, unitBytes);
      if (unitBytes === undefined) splits.set(bytes, pieces);
    }
    for (let piece = 0; piece < pieces.length; piece++) {
      visit(strategy.channelOf({ rank, peer, buffer, piece, channels }), pieces[piece]!.bytes);
    }
  };
}

export function boundOf(load: Load, strategy: Strategy, links: readonly Link[]): Bound {
  const { places: world, channels, out } = load;
  if (links.length < channels)
    throw new TypeError(`${links.length} links for ${channels} channels`);
  const nanoseconds = boundNanoseconds(load, links);

  const used = links.slice(0, channels);
  const noneKnown = used.every((link) => link.lineRateGbps === undefined);
  const assumed = noneKnown ? used.map(({ nic }) => ({ nic, lineRateGbps: 1 })) : used;
  const assumedNanoseconds = noneKnown ? boundNanoseconds(load, assumed) : nanoseconds;
  const allowedGbps = allowedLineRateGbps(strategy, assumed);
  if (!assumedNanoseconds || allowedGbps === undefined) return { nanoseconds, fraction: undefined };
  let busiest = 0;
  for (let rank = 0; rank < world; rank++) {
    const sent = out.subarray(rank * channels, (rank + 1) * channels);
    busiest = Math.max(
      busiest,
      sent.reduce((sum, bytes) => sum + bytes, 0),
    );
  }
  return { nanoseconds, fraction: (busiest * 8) / assumedNanoseconds / allowedGbps };
}

/** The aggregate rate of the channels a strategy may use: the denominator of `busbw %`. */
export function allowedLineRateGbps(
  strategy: Strategy,
  links: readonly Link[],
): number | undefined {
  const allowed = links.slice(0, strategy.allowedChannels(links.length));
  const rates = [...ratesByNic(allowed).values()];
  if (rates.includes(undefined)) return undefined;
  return rates.reduce<number>((sum, rateGbps) => sum + rateGbps!, 0);
}

/** A channel without a NIC's name has one of its own. */
const nicOf = (link: Link | undefined, channel: number): string | number => link?.nic ?? channel;

const ratesByNic = (links: readonly Link[]): Map<string | number, number | undefined> =>
  new Map(links.map((link, channel) => [nicOf(link, channel), link.lineRateGbps]));

/** Sequential blocks add up; others take as long as the busiest link. */
function boundNanoseconds(load: Load, links: readonly Link[]): number | undefined {
  let longest = 0;
  let total = 0;
  for (let place = 0; place < load.places; place++) {
    const sent = needsOf(channelsOf(load, 'out', place), links);
    const received = needsOf(channelsOf(load, 'in', place), links);
    if (!sent || !received) return undefined;
    longest = Math.max(longest, sent.longest, received.longest);
    total += sent.sum;
  }
  return load.sequential ? total : longest;
}

const channelsOf = (load: Load, way: 'out' | 'in', place: number): Float64Array =>
  load[way].subarray(place * load.channels, (place + 1) * load.channels);

/** The nanoseconds that the busiest NIC needs for these bytes of its channels, and those of all of them: bits over Gbps. */
function needsOf(bytesOfChannels: Float64Array, links: readonly Link[]) {
  const rates = ratesByNic(links);
  let longest = 0;
  let sum = 0;
  for (const [nic, bytes] of bytesByNic(bytesOfChannels, links)) {
    if (bytes === 0) continue;
    const rateGbps = rates.get(nic);
    if (rateGbps === undefined) return undefined;
    longest = Math.max(longest, (bytes * 8) / rateGbps);
    sum += (bytes * 8) / rateGbps;
  }
  return { longest, sum };
}

function bytesByNic(bytesOfChannels: Float64Array, links: readonly Link[]) {
  const sums = new Map<string | number, number>();
  for (const [channel, bytes] of bytesOfChannels.entries()) {
    const nic = nicOf(links[channel], channel);
    sums.set(nic, (sums.get(nic) ?? 0) + bytes);
  }
  return sums;
}

/** What the busiest NIC sends or receives in an iteration: as many nanoseconds at a byte per nanosecond. */
export const busiestNicBytes = (load: Load, links: readonly Link[]): number =>
  boundNanoseconds(
    { ...load, sequential: false },
    links.map(({ nic }) => ({ nic, lineRateGbps: 8 })),
  )!;

/**
 * By rank: the best time of its own NICs over that of the busiest rank's, 0 to 1. Without all line rates, links count
 * as equal.
 */
export function rankLoads(
  traffic: Traffic,
  strategy: Strategy,
  links: readonly Link[],
  wiring?: Wiring,
): number[] {
  const known = links.length > 0 && links.every(({ lineRateGbps }) => lineRateGbps !== undefined);
  const equal = (links.length === 0 ? [{}] : links).map((link) => ({ ...link, lineRateGbps: 1 }));
  const counted: readonly Link[] = known ? links : equal;
  const load = loadOfTraffic(traffic, strategy, counted.length, wiring);
  const { placeOf } = placesOf(traffic.world, wiring);
  const needs = Array.from({ length: load.places }, (_, place) =>
    Math.max(
      ...(['out', 'in'] as const).map(
        (way) => needsOf(channelsOf(load, way, place), counted)!.longest,
      ),
    ),
  );
  const most = Math.max(...needs);
  return Array.from({ length: traffic.world }, (_, rank) =>
    most === 0 ? 1 : needs[placeOf(rank)]! / most,
  );
}

/**
 * The bound of traffic spread by a strategy: no mean time of iterations that follow each other without a barrier is
 * shorter. Ranks may be in different iterations, so nothing counts that holds only if all start together.
 */
export function boundOfTraffic(
  traffic: Traffic,
  strategy: Strategy,
  links: readonly Link[],
  wiring?: Wiring,
): Bound {
  const bound = boundOf(loadOfTraffic(traffic, strategy, links.length, wiring), strategy, links);
  if (bound.nanoseconds === undefined) return bound;
  const late = boundOfStarts(traffic, strategy, links, wiring);
  return { ...bound, nanoseconds: Math.max(bound.nanoseconds, late) };
}

/** A rank that starts blocks late ends its iteration no sooner than its own NICs have moved all that it starts from then on. */
function boundOfStarts(
  traffic: Traffic,
  strategy: Strategy,
  links: readonly Link[],
  wiring: Wiring | undefined,
): number {
  const { isLocal } = placesOf(traffic.world, wiring);
  const eachPiece = piecesOf(strategy, links.length);
  let most = 0;
  for (let rank = 0; rank < traffic.world; rank++) {
    const sums = new Float64Array(links.length);
    for (const block of lateBlocks(traffic, rank)) {
      if (!isLocal(block.source, block.target)) {
        eachPiece(block, (channel, bytes) => {
          sums[channel]! += bytes;
        });
      }
      most = Math.max(most, block.notBefore + needsOf(sums, links)!.longest);
    }
  }
  return most;
}
