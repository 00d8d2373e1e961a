import { expect, test } from 'vitest';
import { isWeftError } from '../../src/errors.js';
import { hmemCapability } from '../../src/fabric/device-path.js';
import { seededRandom } from '../../src/measure/seeded-random.js';
import { mostBytes, randomCase } from './random-cases.js';
import { RanksInProcess } from './ranks-in-process.js';

const schedules = 60;

/** Where GPU memory is direct, Pin columns share its endpoints. */
test('endpoints that are opened for GPU memory carry host memory, too', async () => {
  const bytes = 4 * (mostBytes + 64);
  const options = { ranks: 3, provider: 'shm', channels: 2, bytes, deviceMemory: true };
  await using job = await RanksInProcess.open(options);
  for (const { caps } of job.fabrics) expect(caps & hmemCapability).toBe(hmemCapability);
  const random = seededRandom(1);
  for (let i = 0; i < schedules; i++) {
    const { traffic, plan } = randomCase(random, 3, 2);
    await job.fill(traffic, i * 1e4);
    await job.run(plan, { iterations: 2 });
    expect(await job.wrong(traffic, i * 1e4), `schedule ${i}`).toBe(0);
  }
});

test('a provider that moves no GPU memory offers no endpoint for it', async () => {
  const options = { ranks: 2, provider: 'net', channels: 1, bytes: 64, deviceMemory: true };
  const refused = await RanksInProcess.open(options).then(
    async (job) => {
      await job[Symbol.asyncDispose]();
      return undefined;
    },
    (error: unknown) => error,
  );
  expect(isWeftError(refused, 'NO_PROVIDER')).toBe(true);
});
