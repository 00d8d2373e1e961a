import { describe, expect, test } from 'vitest';
import type { NativeProxyJob } from '../../src/native/tasks.js';
import { multi, single } from '../../src/plan/strategies.js';
import type { Block, Traffic } from '../../src/plan/traffic.js';
import { transfersOf, writePlan } from '../../src/plan/write-plan.js';
import { RanksInProcess } from './ranks-in-process.js';

const ranks = 3;
const sizes = [1, 8, 100, 4096, 65_537, 300_000, 0, 777, 20_000];

/** Writes of different sizes from rank 0 to the others in turn. */
function mixedTraffic(): Traffic {
  const places = new Map<number, { buffer: number; end: number }>();
  let end = 0;
  const blocks = sizes.map((bytes, index): Block => {
    const target = 1 + (index % (ranks - 1));
    const place = places.get(target) ?? { buffer: 0, end: 0 };
    const stride = Math.ceil(bytes / 64) * 64 + 64;
    const block = {
      source: 0,
      target,
      buffer: place.buffer,
      sourceOffset: end,
      targetOffset: place.end,
      bytes,
    };
    places.set(target, { buffer: place.buffer + 1, end: place.end + stride });
    end += stride;
    return block;
  });
  const incoming = (rank: number) => blocks.filter((block) => block.target === rank);
  return {
    title: 'mixed',
    world: ranks,
    sequential: false,
    outgoing: (rank) => (rank === 0 ? blocks : []),
    incoming,
    sourceBytes: (rank) => (rank === 0 ? end : 0),
    targetBytes: (rank) => places.get(rank)?.end ?? 0,
  };
}

describe.each([
  ['shm', {}],
  ['tcp', {}],
  ['tcp', { acknowledged: true }],
])('requests over %s %o', (provider, how) => {
  test.each([
    ['blocking', single, 1],
    ['NBI', single, 2],
    ['blocking', multi, 3],
    ['NBI', multi, 9],
  ] as const)(
    'of different sizes and peers, %s, completions out of order',
    async (mode, strategy, producers) => {
      const channels = 2;
      const traffic = mixedTraffic();
      const bytes = 2 ** 20;
      await using job = await RanksInProcess.open({ ranks, provider, channels, bytes, ...how });
      job.shuffle(producers);
      const pacing = { chunkBytes: 50_000, window: 3 };
      const plan = (rank: number) => writePlan(traffic, { rank, channels, strategy, ...pacing });
      const proxy: NativeProxyJob = {
        producers,
        block: 32,
        shift: 2,
        blocking: mode === 'blocking',
        fill: true,
        seed: 4000,
        trace: true,
        transfers: transfersOf(traffic, 0, strategy, channels),
      };
      // What producers fill must be there, not what was there before.
      await job.fill(traffic, 9000);
      await job.serve(plan, proxy, { iterations: 5 });
      expect(await job.wrong(traffic, 4000)).toBe(0);
    },
  );
});

test('a transfer of steps that the plan does not have is refused', async () => {
  await using job = await RanksInProcess.open({
    ranks: 1,
    provider: 'shm',
    channels: 1,
    bytes: 4096,
  });
  const traffic = { ...mixedTraffic(), world: 1, outgoing: () => [], incoming: () => [] };
  const plan = writePlan(traffic, { rank: 0, channels: 1, strategy: single });
  const how = { blocking: false, fill: false, seed: 0, trace: false };
  const proxy = { ...how, producers: 1, block: 32, shift: 4, transfers: [[0]] };
  await expect(job.serve(() => plan, proxy)).rejects.toThrow(
    'a step can belong to only one transfer',
  );
});
