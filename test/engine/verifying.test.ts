import { expect, test } from 'vitest';
import type { NativeJob } from '../../src/native/fabric.js';
import type { Mismatch } from '../../src/native/memory.js';
import { oneToEach, oneToEachTraffic } from '../../src/plan/patterns/one-to-each.js';
import { single } from '../../src/plan/strategies.js';
import { RanksInProcess } from './ranks-in-process.js';

const bytes = 64 * 2 ** 10;
const traffic = oneToEachTraffic({ world: 2, from: 0, bytes });
const seed = 7;

/** What rank 1 saw of its bytes at the moment when their arrivals were counted. */
async function seenBy(job: RanksInProcess, wrong: object): Promise<Mismatch> {
  const [block] = traffic.incoming(1);
  const expected = Float64Array.of(block!.targetOffset, bytes, seed, block!.sourceOffset);
  const plan = (rank: number) =>
    oneToEach({
      world: 2,
      from: 0,
      bytes,
      rank,
      channels: 1,
      strategy: single,
      chunkBytes: 4096,
      window: 4,
    });
  const ended = await job.run(
    plan,
    {},
    (rank) => (rank === 1 ? { expected } : wrong) as Partial<NativeJob>,
  );
  return (ended[1] as unknown as { early: Mismatch }).early;
}

const open = async (provider: string) => {
  const job = await RanksInProcess.open({ ranks: 2, provider, channels: 1, bytes: 2 * bytes });
  await job.fill(traffic, seed);
  return job;
};

test.each(['shm', 'tcp'])('on %s counted bytes are there', async (provider) => {
  await using job = await open(provider);
  expect(await seenBy(job, {})).toMatchObject({ wrong: 0 });
});

test('immediates without their data are found as soon as they are counted', async () => {
  await using job = await open('shm');
  const { wrong } = await seenBy(job, { sabotage: { kind: 'drop', offset: 0 } });
  expect(wrong).toBeGreaterThan(bytes / 2);
});
