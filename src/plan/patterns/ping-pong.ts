import { type Plan, planVersion, type RecvStep, type SendStep } from '../plan.js';
import { type Block, checkBytes, checkRank, checkWorld, type Traffic } from '../traffic.js';
import { type Pacing, pacingOf } from '../write-plan.js';

/** A message from one rank to another, and one back. */
export interface PingPongTraffic {
  readonly world: number;
  /** The rank that sends first, and whose clock counts. */
  readonly a: number;
  readonly b: number;
  readonly bytes: number;
}

/** The messages, and for which rank they are planned. */
export interface PingPongOptions extends PingPongTraffic, Pacing {
  readonly rank: number;
}

/** The blocks of a ping-pong: one each way. */
export function pingPongTraffic({ world, a, b, bytes }: PingPongTraffic): Traffic {
  checkWorld(world);
  checkRank('a', a, world);
  checkRank('b', b, world);
  if (a === b) throw new TypeError(`rank ${a} cannot play ping-pong with itself`);
  checkBytes('bytes', bytes);
  const block = (source: number, target: number): Block[] => [
    { source, target, buffer: 0, sourceOffset: 0, targetOffset: 0, bytes },
  ];
  const other = (rank: number) => (rank === a ? b : rank === b ? a : undefined);
  const size = (rank: number) => (other(rank) === undefined ? 0 : bytes);
  return {
    title: 'ping-pong',
    world,
    sequential: true,
    outgoing: (rank) => {
      const peer = other(rank);
      return peer === undefined ? [] : block(rank, peer);
    },
    incoming: (rank) => {
      const peer = other(rank);
      return peer === undefined ? [] : block(peer, rank);
    },
    sourceBytes: size,
    targetBytes: size,
  };
}

/**
 * Rank `a` sends and receives the answer; rank `b` answers when it has received. All on channel 0;
 * the rest of the world has an empty plan. The answer is the acknowledgement, so nothing more is
 * asked of a send than that its buffer may be reused.
 */
export function pingPong(options: PingPongOptions): Plan {
  const { rank, world, a, b, bytes } = options;
  const traffic = pingPongTraffic(options);
  checkRank('rank', rank, world);
  const post = (peer: number, after: number[]) =>
    ({ kind: 'post', channel: 0, peer, after }) as const;
  const send = (peer: number, after: number[]): SendStep => ({
    ...post(peer, after),
    op: 'send',
    local: { buffer: 'source', offset: 0, bytes },
  });
  const recv = (peer: number): RecvStep => ({
    ...post(peer, []),
    op: 'recv',
    local: { buffer: 'target', offset: 0, bytes },
  });
  const first = () => [send(b, []), recv(b)];
  const second = () => [recv(a), send(a, [0])];
  return {
    version: planVersion,
    rank,
    world,
    channels: 1,
    ...pacingOf(options),
    delivery: 'transmit',
    sourceBytes: traffic.sourceBytes(rank),
    targetBytes: traffic.targetBytes(rank),
    steps: rank === a ? first() : rank === b ? second() : [],
  };
}
