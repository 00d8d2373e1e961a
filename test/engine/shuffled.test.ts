import { expect, test } from 'vitest';
import { seededRandom } from '../../src/measure/seeded-random.js';
import { allToAll, allToAllTraffic } from '../../src/plan/patterns/all-to-all.js';
import { oneToEach, oneToEachTraffic } from '../../src/plan/patterns/one-to-each.js';
import { pingPong, pingPongTraffic } from '../../src/plan/patterns/ping-pong.js';
import type { Plan } from '../../src/plan/plan.js';
import { multi, roundRobin, type Strategy, single } from '../../src/plan/strategies.js';
import type { Traffic } from '../../src/plan/traffic.js';
import { RanksInProcess } from './ranks-in-process.js';

const strategies: Strategy[] = [single, multi, roundRobin];
const groups = 50;
const schedulesPerGroup = 200;
const mostBytes = 3000;

interface Case {
  readonly traffic: Traffic;
  plan(rank: number): Plan;
}

/** A random pattern, strategy, size, chunk and window. */
function randomCase(random: () => number, world: number, channels: number): Case {
  const upTo = (most: number) => Math.floor(random() * (most + 1));
  const strategy = strategies[upTo(2)]!;
  const bytes = upTo(mostBytes);
  const pacing = { chunkBytes: 1 + upTo(900), window: 1 + upTo(7) };
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

test(`${groups * schedulesPerGroup} random schedules without order give every byte`, async () => {
  for (let group = 0; group < groups; group++) {
    const random = seededRandom(group + 1);
    const ranks = 2 + (group % 3);
    const channels = 1 + (group % 4);
    const bytes = 4 * (mostBytes + 64);
    const provider = group % 5 === 4 ? 'tcp' : 'shm';
    await using job = await RanksInProcess.open({ ranks, provider, channels, bytes });
    job.shuffle(group);
    for (let i = 0; i < schedulesPerGroup; i++) {
      const { traffic, plan } = randomCase(random, ranks, channels);
      const seed = group * 1e6 + i * 1e4;
      await job.fill(traffic, seed);
      await job.run(plan, { iterations: 1 + Math.floor(random() * 3) });
      expect(await job.wrong(traffic, seed), `group ${group}, schedule ${i}`).toBe(0);
    }
  }
}, 300_000);
