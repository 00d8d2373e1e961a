import { describe, expect, test } from 'vitest';
import { marksOf } from '../../src/engine/marks.js';
import { seededRandom } from '../../src/measure/seeded-random.js';
import { oneToEach, oneToEachTraffic } from '../../src/plan/patterns/one-to-each.js';
import { stage, stagedPlan } from '../../src/plan/staged.js';
import { single } from '../../src/plan/strategies.js';
import { describeDeviceSums } from '../gpu/device-sums-suite.js';
import { describeStagedParts } from '../gpu/staged-parts-suite.js';
import { mostBytes, randomCase } from './random-cases.js';
import { RanksInProcess } from './ranks-in-process.js';

describe('parts in host memory', () => describeStagedParts(() => undefined));
describe('sums in host memory', () => describeDeviceSums(() => undefined));

const groups = 10;
const schedulesPerGroup = 100;

test(`${groups * schedulesPerGroup} random staged schedules give every byte`, async () => {
  for (let group = 0; group < groups; group++) {
    const random = seededRandom(group + 1);
    const ranks = 2 + (group % 3);
    const channels = 1 + (group % 4);
    const bytes = 4 * (mostBytes + 64);
    const provider = group % 5 === 4 ? 'tcp' : 'shm';
    const how = { staged: true, acknowledged: group % 3 === 2 };
    await using job = await RanksInProcess.open({ ranks, provider, channels, bytes, ...how });
    if (group % 2 === 0) job.shuffle(group);
    for (let i = 0; i < schedulesPerGroup; i++) {
      const { traffic, plan } = randomCase(random, ranks, channels);
      const pieceBytes = 1 + Math.floor(random() * 1200);
      const seed = group * 1e6 + i * 1e4;
      await job.fill(traffic, seed);
      const iterations = 1 + Math.floor(random() * 3);
      await job.run((rank) => stagedPlan(plan(rank), pieceBytes), { iterations });
      expect(await job.wrong(traffic, seed), `group ${group}, schedule ${i}`).toBe(0);
    }
  }
}, 300_000);

describe('a staged transfer', () => {
  const write = { world: 2, from: 0, bytes: 10_000, channels: 1, strategy: single };
  const traffic = oneToEachTraffic(write);
  const open = () =>
    RanksInProcess.open({ ranks: 2, provider: 'shm', channels: 1, bytes: 10_048, staged: true });
  const plan = (rank: number) => stagedPlan(oneToEach({ ...write, rank }), 1024);

  test('with a byte changed on the device is found wrong', async () => {
    await using job = await open();
    await job.fill(traffic, 7);
    await job.run(plan, { sabotage: { kind: 'flip', offset: 4321 } });
    expect(await job.wrong(traffic, 7)).toBe(1);
    const verified = await job.devices[1]!.target.verify(7, { bytes: 10_000 });
    expect(verified.offset).toBe(4321);
  });

  test('without its data is found wrong', async () => {
    await using job = await open();
    await job.fill(traffic, 7);
    await job.run(plan, { sabotage: { kind: 'drop', offset: 0 } });
    expect(await job.wrong(traffic, 7)).toBeGreaterThan(9000);
  });

  test('is marked when its last piece is on the device', async () => {
    await using job = await open();
    const staged = (rank: number) => stage(oneToEach({ ...write, rank }), 1024);
    let heard = new Float64Array();
    const marks = marksOf([staged(1).ends[0]!], (times) => {
      heard = Float64Array.from(times);
    });
    const how = { iterations: 3, marks: Uint32Array.from(marks.steps) };
    const results = await job.run(
      (rank) => staged(rank).plan,
      {},
      (rank) => (rank === 1 ? how : { iterations: 3 }),
    );
    const found = results[1] as unknown as { samples: Float64Array; marks: Float64Array };
    marks.heard(found.marks);
    expect(marks.steps).toHaveLength(10);
    expect(heard).toHaveLength(3);
    for (const [i, time] of heard.entries()) {
      expect(time).toBe(Math.max(...found.marks.subarray(10 * i, 10 * (i + 1))));
      expect(time).toBeLessThanOrEqual(found.samples[i]!);
    }
  });

  test('needs device buffers', async () => {
    await using job = await RanksInProcess.open({
      ranks: 2,
      provider: 'shm',
      channels: 1,
      bytes: 10_048,
    });
    await expect(job.run(plan)).rejects.toThrow('outside the plan');
  });

  test('outside its device buffers is refused', async () => {
    await using job = await open();
    const large = (rank: number) => stagedPlan(oneToEach({ ...write, rank, bytes: 20_000 }), 1024);
    await expect(job.run(large)).rejects.toThrow('outside the plan');
  });
});
