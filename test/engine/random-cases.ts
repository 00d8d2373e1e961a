import { allToAll, allToAllTraffic } from '../../src/plan/patterns/all-to-all.js';
import { oneToEach, oneToEachTraffic } from '../../src/plan/patterns/one-to-each.js';
import { pingPong, pingPongTraffic } from '../../src/plan/patterns/ping-pong.js';
import type { Plan } from '../../src/plan/plan.js';
import { multi, roundRobin, type Strategy, single } from '../../src/plan/strategies.js';
import type { Traffic } from '../../src/plan/traffic.js';

const strategies: Strategy[] = [single, multi, roundRobin];
export const mostBytes = 3000;
const mostChunks = 48;

export interface Case {
  readonly traffic: Traffic;
  plan(rank: number): Plan;
}

/** A random pattern, strategy, size, chunk and window. */
export function randomCase(random: () => number, world: number, channels: number): Case {
  const upTo = (most: number) => Math.floor(random() * (most + 1));
  const strategy = strategies[upTo(2)]!;
  const bytes = upTo(mostBytes);
  // More chunks only take longer.
  const chunkBytes = Math.max(1 + upTo(900), Math.ceil(bytes / mostChunks));
  const pacing = { chunkBytes, window: 1 + upTo(7) };
  const common = { channels, strategy, ...pacing };
  const kind = upTo(2);
  if (kind === 0) {
    const game = { world, a: 0, b: 1 + upTo(world - 2), bytes };
    const whole = { chunkBytes: Math.max(1, bytes), window: pacing.window };
    return {
      traffic: pingPongTraffic(game),
      plan: (rank) => pingPong({ ...game, rank, ...whole }),
    };
  }
  if (kind === 1) {
    const job = { world, from: 0, bytes, buffers: 1 + upTo(3) };
    return {
      traffic: oneToEachTraffic(job),
      plan: (rank) => oneToEach({ ...job, rank, ...common }),
    };
  }
  const job = { world, bytes };
  return { traffic: allToAllTraffic(job), plan: (rank) => allToAll({ ...job, rank, ...common }) };
}
