// On a real GPU.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { gpuAvailability, openGpu } from '../../src/gpu/gpu.js';
import { describeGpu, describeWithReason } from './device-suite.js';

const run = promisify(execFile);
const availability = gpuAvailability();
const reason = 'reason' in availability ? availability.reason.message : undefined;
const program = fileURLToPath(new URL('programs/own-pattern.mjs', import.meta.url));
const GiB = 2 ** 30;

describeWithReason('on a GPU', reason, () => {
  describeGpu(openGpu);

  test('beyond 4 GiB every byte is filled and verified, and a wrong one is found', async () => {
    using buffer = openGpu().allocate(5 * GiB + 5);
    await buffer.fill(3);
    expect(await buffer.verify(3)).toMatchObject({ wrong: 0 });
    const at = 5 * GiB + 1;
    await buffer.fill(4, { offset: at, bytes: 2 });
    const found = await buffer.verify(3);
    expect(found.wrong).toBeGreaterThan(0);
    expect(found.offset).toBeGreaterThanOrEqual(at);
    const place = { offset: 4 * GiB + 12_345, bytes: 999_999 };
    expect(await buffer.verify(3, { ...place, position: place.offset })).toMatchObject({
      wrong: 0,
    });
  });

  test('more than is free, but not more than there is, is refused by the driver itself', async () => {
    const gpu = openGpu();
    const bytes = Math.floor((gpu.freeBytes() + gpu.description.memoryBytes) / 2);
    expect(() => gpu.allocate(bytes)).toThrow(expect.objectContaining({ code: 'MEMORY_LIMIT' }));
    using buffer = gpu.allocate(1000);
    await buffer.fill(2);
    expect(await buffer.verify(2)).toMatchObject({ wrong: 0 });
  });

  test('two processes use one GPU at the same time', async () => {
    const ended = await Promise.all(
      [11, 12].map((seed) => run(process.execPath, [program, `${seed}`])),
    );
    expect(ended.map(({ stdout }) => JSON.parse(stdout))).toEqual([{ wrong: 0 }, { wrong: 0 }]);
  });
});
