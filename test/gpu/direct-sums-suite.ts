import { expect } from 'vitest';
import { openFabric } from '../../src/fabric/fabric.js';
import type { FabricDeviceBuffer } from '../../src/fabric/region.js';
import type { Gpu } from '../../src/gpu/gpu.js';
import { HostBuffer } from '../../src/memory/buffer.js';
import { encodePlan } from '../../src/plan/encode.js';
import { planVersion } from '../../src/plan/plan.js';

const count = 5000;

/** A rank on its own adds float32 in GPU memory that its fabric has registered. */
export async function expectDirectSums(gpu: Gpu, provider: string): Promise<void> {
  await using fabric = await openFabric({ provider, channels: 1 });
  fabric.connect(0, [fabric.addresses]);
  const bytes = 8 * count;
  const source = fabric.allocateDevice(bytes, gpu, 'hmem');
  const target = fabric.allocateDevice(bytes, gpu, 'hmem');
  using host = new HostBuffer(bytes);
  const numbers = new Float32Array(host.view().buffer);
  numbers.forEach((_, i) => {
    numbers[i] = i;
  });
  await source.copyFrom(host);
  const from = [
    { buffer: 'source', offset: 0, weight: 0.5 },
    { buffer: 'source', offset: 4 * count, weight: 2 },
  ] as const;
  const parts = [{ into: 4 * count, bytes: 4 * count, from }];
  const plan = encodePlan({
    ...{ version: planVersion, rank: 0, world: 1, channels: 1, chunkBytes: 1024, window: 1 },
    ...{ delivery: 'complete', sourceBytes: bytes, targetBytes: bytes },
    steps: [{ kind: 'sum', dtype: 'float32', parts, after: [] }],
  });
  const region = (buffer: FabricDeviceBuffer) => buffer.region(fabric.port);
  await fabric.port.drive((native) =>
    native.run({
      ...{ plan, source: region(source), target: region(target) },
      ...{ remotes: [fabric.remote(target.describe()).id] },
      ...{ iterations: 1, batch: 1, timeoutMs: 20_000, expectedMs: 0, spinsBeforeYield: 0 },
    }),
  );
  await target.copyTo(host);
  const added = numbers.subarray(count).every((sum, i) => sum === 0.5 * i + 2 * (count + i));
  expect(added).toBe(true);
  expect(numbers.subarray(0, count).every((one) => one === 0)).toBe(true);
}
