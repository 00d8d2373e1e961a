// On a real GPU.
import { describe, expect, test } from 'vitest';
import { gpuAvailability, openGpu } from '../../src/gpu/gpu.js';
import { gatherParts, prepareCopy, scatterParts } from '../../src/gpu/tokens.js';
import { describeWithReason } from './device-suite.js';
import { describeDeviceSums } from './device-sums-suite.js';
import { describeStagedParts } from './staged-parts-suite.js';
import { describeTokens } from './tokens-suite.js';

const availability = gpuAvailability();
const reason = 'reason' in availability ? availability.reason.message : undefined;
const GiB = 2 ** 30;

describeWithReason('tokens on a GPU', reason, () => {
  describeTokens(openGpu);
  describe('staged transfers', () => describeStagedParts(openGpu));
  describe('sums of a plan', () => describeDeviceSums(openGpu));

  test('rows beyond 4 GiB are gathered and scattered', async () => {
    const gpu = openGpu();
    const rowBytes = 16_384;
    const count = (5 * GiB) / rowBytes;
    using from = gpu.allocate(5 * GiB);
    using packed = gpu.allocate(5 * GiB);
    // Each row once: 3 does not divide their number.
    const rows = Array.from({ length: count }, (_, i) => (i * 3) % count);
    await from.fill(8);
    using gather = prepareCopy(gpu, gatherParts(rows, rowBytes));
    using scatter = prepareCopy(gpu, scatterParts(rows, rowBytes));
    await gather.run(packed, from);
    const last = { offset: (count - 1) * rowBytes, position: rows[count - 1]! * rowBytes };
    expect(await packed.verify(8, last)).toMatchObject({ wrong: 0 });
    await from.set(0);
    await scatter.run(from, packed);
    expect(await from.verify(8)).toMatchObject({ wrong: 0 });
  });
});
