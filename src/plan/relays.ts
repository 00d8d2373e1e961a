import type { Strategy } from './strategies.js';
import type { Block, Traffic } from './traffic.js';

/** What a rank must have received before it sends, by channel. */
export interface RelayLoad {
  readonly in: Float64Array;
  readonly out: Float64Array;
}

/** Of each rank that sends something only when it has received something else. */
export function relayLoads(
  { world, relays }: Traffic,
  strategy: Strategy,
  channels: number,
  isLocal: (a: number, b: number) => boolean,
): RelayLoad[] {
  if (!relays) return [];
  const bytesOf = (blocks: readonly Block[]): Float64Array => {
    const sums = new Float64Array(channels);
    for (const { source: rank, target: peer, buffer, bytes } of blocks) {
      if (isLocal(rank, peer)) continue;
      strategy.split(bytes, channels).forEach((part, piece) => {
        sums[strategy.channelOf({ rank, peer, buffer, piece, channels })]! += part.bytes;
      });
    }
    return sums;
  };
  return Array.from({ length: world }, (_, rank) =>
    relays(rank).map(({ received, sent }) => ({ in: bytesOf(received), out: bytesOf(sent) })),
  ).flat();
}
