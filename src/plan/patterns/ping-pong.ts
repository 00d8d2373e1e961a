import type { Plan } from '../plan.js';
import { checkRank, checkWorld, type Traffic } from '../traffic.js';
import { type Pacing, pacingOf } from '../write-plan.js';
import { pairEcho, pairEchoTraffic } from './between-pairs.js';

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

/** The only pair of an echo, on channel 0. */
function echoOf<Game extends PingPongTraffic>(game: Game) {
  const { world, a, b } = game;
  checkWorld(world);
  checkRank('a', a, world);
  checkRank('b', b, world);
  if (a === b) throw new TypeError(`rank ${a} cannot play ping-pong with itself`);
  return { ...game, pairs: [[a, b] as const], channels: [0] };
}

/** The blocks of a ping-pong: one each way. */
export const pingPongTraffic = (game: PingPongTraffic): Traffic => ({
  ...pairEchoTraffic(echoOf(game)),
  title: 'ping-pong',
});

/**
 * Rank `a` sends and receives the answer; rank `b` answers when it has received. All on channel 0;
 * the rest of the world has an empty plan. The answer is the acknowledgement, so nothing more is
 * asked of a send than that its buffer may be reused.
 */
export const pingPong = (options: PingPongOptions): Plan => ({
  ...pairEcho(echoOf(options)),
  ...pacingOf(options),
});
