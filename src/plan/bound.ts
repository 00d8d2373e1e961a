import { placesOf } from './places.js';
import { type RelayLoad, relayLoads } from './relays.js';
import { boundWithStarts } from './starts.js';
import type { Strategy } from './strategies.js';
import { checkCount, type Traffic } from './traffic.js';

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
  readonly relays: readonly RelayLoad[];
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
    relays: relayLoads(traffic, strategy, channels, isLocal),
  };
  const splits = new Map<number, readonly { bytes: number }[]>();
  for (let rank = 0; rank < traffic.world; rank++) {
    const from = placeOf(rank);
    for (const { target: peer, buffer, bytes } of traffic.outgoing(rank)) {
      const to = placeOf(peer);
      if (isLocal(rank, peer)) continue;
      let pieces = splits.get(bytes);
      if (pieces === undefined) {
        pieces = strategy.split(bytes, channels);
        splits.set(bytes, pieces);
      }
      for (let piece = 0; piece < pieces.length; piece++) {
        const channel = strategy.channelOf({ rank, peer, buffer, piece, channels });
        load.out[from * channels + channel]! += pieces[piece]!.bytes;
        load.in[to * channels + channel]! += pieces[piece]!.bytes;
      }
    }
  }
  return load;
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

/** Sequential blocks add up; others take as long as the busiest link, and relays both of their halves. */
function boundNanoseconds(load: Load, links: readonly Link[]): number | undefined {
  let longest = 0;
  let total = 0;
  for (let place = 0; place < load.places; place++) {
    const sent = needsOf(load, load.out, place, links);
    const received = needsOf(load, load.in, place, links);
    if (!sent || !received) return undefined;
    longest = Math.max(longest, sent.longest, received.longest);
    total += sent.sum;
  }
  for (const relay of load.relays) {
    const received = needsOf(load, relay.in, 0, links);
    const sent = needsOf(load, relay.out, 0, links);
    if (sent && received) longest = Math.max(longest, received.longest + sent.longest);
  }
  return load.sequential ? total : longest;
}

/** The nanoseconds that a place's busiest NIC needs in this direction, and those of all of them: bits over Gbps. */
function needsOf(load: Load, direction: Float64Array, place: number, links: readonly Link[]) {
  const rates = ratesByNic(links);
  let longest = 0;
  let sum = 0;
  for (const [nic, bytes] of bytesByNic(load, direction, place, links)) {
    if (bytes === 0) continue;
    const rateGbps = rates.get(nic);
    if (rateGbps === undefined) return undefined;
    longest = Math.max(longest, (bytes * 8) / rateGbps);
    sum += (bytes * 8) / rateGbps;
  }
  return { longest, sum };
}

/**
 * By rank: the best time of the NICs that its transfers go through, at both ends, over that of the busiest NIC, 0 to 1:
 * whoever shares a full receiver with others must take as long as they do. Without all line rates, links count as equal.
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
  const channels = counted.length;
  const load = loadOfTraffic(traffic, strategy, channels, wiring);
  const { placeOf, isLocal } = placesOf(traffic.world, wiring);
  const needs = {
    out: channelNeeds(load, load.out, counted),
    in: channelNeeds(load, load.in, counted),
  };
  const most = [...needs.out, ...needs.in].reduce((top, one) => Math.max(top, one), 0);
  const loads = new Float64Array(traffic.world);
  for (let rank = 0; rank < traffic.world; rank++) {
    for (const { target: peer, buffer, bytes } of traffic.outgoing(rank)) {
      if (bytes === 0 || isLocal(rank, peer)) continue;
      strategy.split(bytes, channels).forEach((_, piece) => {
        const channel = strategy.channelOf({ rank, peer, buffer, piece, channels });
        const need = Math.max(
          needs.out[placeOf(rank) * channels + channel]!,
          needs.in[placeOf(peer) * channels + channel]!,
        );
        loads[rank] = Math.max(loads[rank]!, need);
        loads[peer] = Math.max(loads[peer]!, need);
      });
    }
  }
  return Array.from(loads, (one) => (most === 0 ? 1 : one / most));
}

/** By place and channel: the nanoseconds that the channel's NIC needs in this direction. */
function channelNeeds(load: Load, direction: Float64Array, links: readonly Link[]): Float64Array {
  const rates = ratesByNic(links);
  const needs = new Float64Array(direction.length);
  for (let place = 0; place < load.places; place++) {
    const sums = bytesByNic(load, direction, place, links);
    for (let channel = 0; channel < load.channels; channel++) {
      const nic = nicOf(links[channel], channel);
      needs[place * load.channels + channel] = (sums.get(nic)! * 8) / rates.get(nic)!;
    }
  }
  return needs;
}

function bytesByNic(load: Load, direction: Float64Array, rank: number, links: readonly Link[]) {
  const sums = new Map<string | number, number>();
  for (let channel = 0; channel < load.channels; channel++) {
    const nic = nicOf(links[channel], channel);
    sums.set(nic, (sums.get(nic) ?? 0) + direction[rank * load.channels + channel]!);
  }
  return sums;
}

/** The bound of traffic spread by a strategy. */
export function boundOfTraffic(
  traffic: Traffic,
  strategy: Strategy,
  links: readonly Link[],
  wiring?: Wiring,
): Bound {
  const loadOf = (some: Traffic) => loadOfTraffic(some, strategy, links.length, wiring);
  const bound = boundOf(loadOf(traffic), strategy, links);
  if (bound.nanoseconds === undefined) return bound;
  const best = (some: Traffic) => boundNanoseconds(loadOf(some), links)!;
  return { ...bound, nanoseconds: boundWithStarts(traffic, bound.nanoseconds, best) };
}
