import { expect, test } from 'vitest';
import type { Gpu } from '../../src/gpu/gpu.js';
import { HostBuffer } from '../../src/memory/buffer.js';
import { encodePlan } from '../../src/plan/encode.js';
import { type Plan, planVersion, type Step, type SumPart } from '../../src/plan/plan.js';
import { stagedPlan } from '../../src/plan/staged.js';
import { RanksInProcess } from '../engine/ranks-in-process.js';
import { addUp, numbers, viewOf } from '../plan/numbers.js';

const half = 65_536;
const bytes = 2 * half;
const dtypes = ['float32', 'float16', 'bfloat16'] as const;
type Dtype = (typeof dtypes)[number];

/** Short and long, at places that are and are not those of vectors, of one addend and of many, and into an addend. */
const sumsOf = (dtype: Dtype): SumPart[] => {
  const { bytes: each } = numbers[dtype];
  const other = (offset: number, weight = 1) => ({ buffer: 'target' as const, offset, weight });
  const own = (offset: number, weight = 1) => ({ buffer: 'source' as const, offset, weight });
  const many = Array.from({ length: 19 }, (_, i) => (i % 2 ? own : other)(64 * i, (i % 5) - 2));
  return [
    { into: half, bytes: 16_384, from: [other(0, 0.5), own(0, 0.25), other(16_384)] },
    { into: half + 20_000, bytes: 5000, from: [own(each, -1), other(40_000)] },
    { into: half + 30_000, bytes: 64 * each, from: many },
    { into: half + 40_000, bytes: each, from: [own(3 * each, 3)] },
    { into: 50_000, bytes: 6000, from: [other(50_000), own(100, 2)] },
    { into: half + 60_000, bytes: 0, from: [own(0)] },
  ];
};

/** Rank 0 writes half a buffer, in two pieces; rank 1 adds when it has come. */
const planOf = (dtype: Dtype | 'int32', parts: readonly SumPart[], rank: number): Plan => {
  const local = { buffer: 'source', offset: 0, bytes: half } as const;
  const steps: Step[] =
    rank === 0
      ? [
          {
            ...{ kind: 'post', op: 'write', channel: 0, peer: 1, local, remote: { offset: 0 } },
            ...{ slot: 0, after: [] },
          },
        ]
      : [
          { kind: 'wait', source: 0, slot: 0, offset: 0, bytes: half, after: [] },
          { kind: 'sum', dtype, parts, after: [0] },
        ];
  const sizes = { sourceBytes: bytes, targetBytes: bytes };
  const pacing = { channels: 1, chunkBytes: 10_000, window: 4, delivery: 'complete' } as const;
  const plan: Plan = { version: planVersion, rank, world: 2, ...pacing, ...sizes, steps };
  return stagedPlan(plan, half / 2);
};

type DeviceBuffer = RanksInProcess['devices'][number]['source'];

async function put(buffer: DeviceBuffer, from: Uint8Array): Promise<void> {
  using host = new HostBuffer(from.length);
  host.view().set(from);
  if (buffer instanceof HostBuffer) buffer.view().set(from);
  else await buffer.copyFrom(host);
}

async function contents(buffer: DeviceBuffer): Promise<Uint8Array> {
  if (buffer instanceof HostBuffer) return buffer.view().slice();
  using host = new HostBuffer(buffer.bytes);
  await buffer.copyTo(host);
  return host.view().slice();
}

function numbered(dtype: Dtype, seed: number): Uint8Array {
  const { put: write, bytes: each } = numbers[dtype];
  const result = new Uint8Array(bytes);
  const view = viewOf(result);
  for (let at = 0; at < bytes; at += each) write(view, at, Math.sin(seed + at) * (1 + (at % 7)));
  return result;
}

/** Sums of a staged plan, in GPU memory or, without a GPU, in host memory in its stead. */
export function describeDeviceSums(open: () => Gpu | undefined): void {
  const ranks = () => {
    const gpu = open();
    const how = { ranks: 2, provider: 'shm', channels: 1, bytes, staged: true };
    return RanksInProcess.open({ ...how, ...(gpu && { gpu }) });
  };

  test.each(dtypes)(
    '%s: what came and what was there add up, and nothing else changes',
    async (dtype) => {
      await using job = await ranks();
      const [sent, own, expected] = [1, 2, 3].map((seed) => numbered(dtype, seed));
      await put(job.devices[0]!.source, sent!);
      await put(job.devices[1]!.source, own!);
      await put(job.devices[1]!.target, expected!);
      const parts = sumsOf(dtype);
      await job.run((rank) => planOf(dtype, parts, rank), { iterations: 3 });
      expected!.set(sent!.subarray(0, half));
      for (const part of parts) addUp(dtype, part, { source: own!, target: expected! });
      expect(Buffer.compare(await contents(job.devices[1]!.target), expected!)).toBe(0);
    },
  );

  test('outside the buffers, in two memories, or of a type that GPUs do not add, are refused', async () => {
    await using job = await ranks();
    const [part] = sumsOf('float32');
    const far = [{ ...part!, into: bytes - 4 }];
    const plan = planOf('float32', [part!], 1);
    const onHost = { kind: 'sum', dtype: 'float32', parts: [part!], after: [] } as const;
    const mixed = { ...plan, steps: [...plan.steps, onHost] };
    const refused = (one: Plan) => expect(job.runEncoded(1, encodePlan(one))).rejects;
    await refused(planOf('float32', far, 1)).toThrow('outside its buffer');
    await refused(mixed).toThrow('not all in one memory');
    if (job.devices[1]!.target instanceof HostBuffer) return;
    await refused(planOf('int32', [part!], 1)).toThrow('int32 needs buffers in host memory');
  });
}
