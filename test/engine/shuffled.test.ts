import { expect, test } from 'vitest';
import { seededRandom } from '../../src/measure/seeded-random.js';
import { mostBytes, randomCase } from './random-cases.js';
import { RanksInProcess } from './ranks-in-process.js';

const groups = 50;
const schedulesPerGroup = 200;

test(`${groups * schedulesPerGroup} random schedules without order give every byte`, async () => {
  for (let group = 0; group < groups; group++) {
    const random = seededRandom(group + 1);
    const ranks = 2 + (group % 3);
    const channels = 1 + (group % 4);
    const bytes = 4 * (mostBytes + 64);
    const provider = process.env.WEFT_TEST_PROVIDERS ?? (group % 5 === 4 ? 'tcp' : 'shm');
    const acknowledged = group % 3 === 2;
    await using job = await RanksInProcess.open({ ranks, provider, channels, bytes, acknowledged });
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
