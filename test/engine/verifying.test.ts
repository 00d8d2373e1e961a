import { expect, test } from 'vitest';
import type { NativeJob } from '../../src/native/fabric.js';
import type { Mismatch } from '../../src/native/memory.js';
import { oneToEach, oneToEachTraffic } from '../../src/plan/patterns/one-to-each.js';
import { type Plan, planVersion, type Step } from '../../src/plan/plan.js';
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

test('bytes in parts are looked at part by part, whoever moves them', async () => {
  await using job = await open('shm');
  const length = 1000;
  const offsets = [5 * length, 0, 9 * length];
  const parts = offsets.map((at) => ({ local: at, remote: at + 1, bytes: length }));
  const base = { kind: 'post', channel: 0, parts } as const;
  const plan =
    (steps: readonly Step[]) =>
    (rank: number): Plan => ({
      ...{ version: planVersion, rank, world: 2, channels: 1, chunkBytes: 300, window: 4 },
      ...{ delivery: 'complete' as const, sourceBytes: 2 * bytes, targetBytes: 2 * bytes },
      steps: rank === 1 ? steps : [],
    });
  await job.sources[0]!.fill(seed);
  const looks = offsets.flatMap((at) => [at, length, seed, at + 1]);
  const expected = Float64Array.from(looks);
  const read: Step = {
    ...{ ...base, op: 'read', peer: 0, after: [] },
    local: { buffer: 'target', offset: offsets[0]!, bytes: 3 * length },
    remote: { offset: offsets[0]! + 1 },
  };
  const earlyOf = async (wrong: object) => {
    const only = (rank: number) => (rank === 1 ? { ...wrong, expected } : {}) as Partial<NativeJob>;
    const ended = await job.run(plan([read]), {}, only);
    return (ended[1] as unknown as { early: Mismatch }).early;
  };
  await job.targets[1]!.fill(seed + 1);
  expect((await earlyOf({ sabotage: { kind: 'drop', offset: 0 } })).wrong).toBeGreaterThan(2000);
  expect(await earlyOf({})).toMatchObject({ wrong: 0 });
});
