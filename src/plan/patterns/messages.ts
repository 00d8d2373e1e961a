import type { Plan } from '../plan.js';
import { pieceAlignment } from '../strategies.js';
import {
  type Block,
  checkBytes,
  checkCount,
  checkRank,
  checkWorld,
  type Traffic,
} from '../traffic.js';
import { pacingOf, type WritePlanOptions, writePlan } from '../write-plan.js';

interface Messages {
  readonly world: number;
  readonly from: number;
  readonly to: number;
  /** Of each message. */
  readonly bytes: number;
  readonly count: number;
}

/** Channels get whole messages. Small ones that share a cache line stay on one channel. */
function unitOf(bytes: number): number {
  if (bytes >= pieceAlignment || bytes === 0) return Math.max(1, bytes);
  let unit = bytes;
  while (unit % pieceAlignment !== 0) unit += bytes;
  return unit;
}

/** So many messages from one rank to another, one behind the other at both ends: one transfer whose parts they are. */
export function messagesTraffic({ world, from, to, bytes, count }: Messages): Traffic {
  checkWorld(world);
  checkRank('from', from, world);
  checkRank('to', to, world);
  checkBytes('bytes', bytes);
  checkCount('count', count);
  if (from === to) throw new TypeError(`rank ${from} sends to itself`);
  const all = bytes * count;
  const block: Block = {
    ...{ source: from, target: to, buffer: 0, sourceOffset: 0, targetOffset: 0, bytes: all },
    unitBytes: unitOf(bytes),
    parts: Array.from({ length: count }, (_, i) => ({
      ...{ sourceOffset: i * bytes, targetOffset: i * bytes, bytes },
    })),
  };
  return {
    title: 'messages',
    world,
    sequential: false,
    outgoing: (rank) => (rank === from ? [block] : []),
    incoming: (rank) => (rank === to ? [block] : []),
    sourceBytes: (rank) => (rank === from ? all : 0),
    targetBytes: (rank) => (rank === to ? all : 0),
  };
}

/**
 * One rank's plan of such traffic: a stretch whose chunks are the messages, because a list of parts would have to be
 * read for every message. Messages that are larger than a chunk are cut, each by itself.
 */
export function messagesPlan(traffic: Traffic, bytes: number, options: WritePlanOptions): Plan {
  const inOneStretch = (blocks: readonly Block[]) =>
    blocks.map(({ parts: _, ...stretch }): Block => stretch);
  const chunkBytes = Math.min(bytes, pacingOf(options).chunkBytes);
  // A stretch would be cut across messages.
  if (bytes % chunkBytes !== 0) return writePlan(traffic, options);
  return writePlan(
    {
      ...traffic,
      outgoing: (rank) => inOneStretch(traffic.outgoing(rank)),
      incoming: (rank) => inOneStretch(traffic.incoming(rank)),
    },
    { ...options, chunkBytes },
  );
}
