import { type Plan, planVersion, type RecvStep, type SendStep } from '../plan.js';
import type { RankPair } from '../rounds.js';
import {
  type Block,
  blockStride,
  checkBytes,
  checkRank,
  checkWorld,
  type Traffic,
} from '../traffic.js';
import { type Pacing, pacingOf } from '../write-plan.js';

interface PairsTraffic {
  readonly world: number;
  /** No rank in two of them; the first of each writes, or sends first. */
  readonly pairs: readonly RankPair[];
  readonly bytes: number;
}

function check({ world, pairs, bytes }: PairsTraffic): void {
  checkWorld(world);
  checkBytes('bytes', bytes);
  for (const rank of pairs.flat()) checkRank('rank', rank, world);
  if (new Set(pairs.flat()).size !== 2 * pairs.length)
    throw new TypeError('a rank is in two pairs');
}

/** In each pair the first writes one block to the second; pairs know nothing of each other. */
export function pairWrites(options: PairsTraffic): Traffic {
  check(options);
  const { world, pairs, bytes } = options;
  const block = ([source, target]: RankPair): Block => ({
    source,
    target,
    buffer: 0,
    sourceOffset: 0,
    targetOffset: 0,
    bytes,
  });
  const outgoing = (rank: number) => pairs.filter(([from]) => from === rank).map(block);
  const incoming = (rank: number) => pairs.filter(([, to]) => to === rank).map(block);
  return {
    title: 'pair writes',
    world,
    sequential: false,
    outgoing,
    incoming,
    sourceBytes: (rank) => outgoing(rank).length * bytes,
    targetBytes: (rank) => incoming(rank).length * bytes,
  };
}

interface PairEchoTraffic extends PairsTraffic {
  /** A message on each of these; an iteration ends when all have come back. */
  readonly channels: readonly number[];
}

const partnerOf = (pairs: readonly RankPair[], rank: number): number | undefined => {
  const own = pairs.find((pair) => pair.includes(rank));
  return own && (own[0] === rank ? own[1] : own[0]);
};

/** In each pair the first sends a message on every channel, and the second sends each back. */
export function pairEchoTraffic(options: PairEchoTraffic): Traffic {
  check(options);
  const { world, pairs, bytes, channels } = options;
  const stride = blockStride(bytes);
  const blocks = (source: number, target: number): Block[] =>
    channels.map((_, buffer) => {
      const offset = buffer * stride;
      return { source, target, buffer, sourceOffset: offset, targetOffset: offset, bytes };
    });
  const size = (rank: number) =>
    partnerOf(pairs, rank) === undefined ? 0 : (channels.length - 1) * stride + bytes;
  return {
    title: 'pair echo',
    world,
    sequential: true,
    outgoing: (rank) => {
      const peer = partnerOf(pairs, rank);
      return peer === undefined ? [] : blocks(rank, peer);
    },
    incoming: (rank) => {
      const peer = partnerOf(pairs, rank);
      return peer === undefined ? [] : blocks(peer, rank);
    },
    sourceBytes: size,
    targetBytes: size,
  };
}

interface PairEchoOptions extends PairEchoTraffic, Pacing {
  readonly rank: number;
}

/** As in a ping-pong, the answer is the acknowledgement. Ranks in no pair have an empty plan. */
export function pairEcho(options: PairEchoOptions): Plan {
  const { rank, world, pairs, bytes, channels } = options;
  const traffic = pairEchoTraffic(options);
  checkRank('rank', rank, world);
  const peer = partnerOf(pairs, rank);
  const first = pairs.some(([from]) => from === rank);
  const steps = channels.flatMap((channel, i): (SendStep | RecvStep)[] => {
    if (peer === undefined) return [];
    const post = { kind: 'post', channel, peer } as const;
    const offset = i * blockStride(bytes);
    const recv = { ...post, op: 'recv', local: { buffer: 'target', offset, bytes } } as const;
    const send = { ...post, op: 'send', local: { buffer: 'source', offset, bytes } } as const;
    return first
      ? [
          { ...send, after: [] },
          { ...recv, after: [] },
        ]
      : [
          { ...recv, after: [] },
          { ...send, after: [2 * i] },
        ];
  });
  return {
    version: planVersion,
    rank,
    world,
    channels: Math.max(...channels) + 1,
    ...pacingOf({ ...options, chunkBytes: Math.max(1, bytes) }),
    delivery: 'transmit',
    sourceBytes: traffic.sourceBytes(rank),
    targetBytes: traffic.targetBytes(rank),
    steps,
  };
}
