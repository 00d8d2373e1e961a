import { expect, test } from 'vitest';
import type { Gpu } from '../../src/gpu/gpu.js';
import type { Plan } from '../../src/plan/plan.js';
import { stagedPlan } from '../../src/plan/staged.js';
import { single } from '../../src/plan/strategies.js';
import { contentsOf } from '../../src/plan/traffic.js';
import { writePlan } from '../../src/plan/write-plan.js';
import { RanksInProcess } from '../engine/ranks-in-process.js';
import { scattered } from '../plan/scattered.js';

const traffic = scattered(
  Array.from({ length: 400 }, (_, i) => ({
    bytes: (i * 37) % 700,
    sourceGap: (i * 11) % 29,
    targetGap: i % 3 === 0 ? 0 : (i * 7) % 16,
  })),
);
const bytes = Math.max(traffic.sourceBytes(0), traffic.targetBytes(1)) + 64;
const planOf = (rank: number): Plan =>
  stagedPlan(writePlan(traffic, { rank, channels: 2, strategy: single }), 40_000);

/** Staged transfers whose parts lie apart, in GPU memory or, without a GPU, in host memory in its stead. */
export function describeStagedParts(open: () => Gpu | undefined): void {
  const ranks = () => {
    const gpu = open();
    const how = { ranks: 2, provider: 'shm', channels: 2, bytes, staged: true };
    return RanksInProcess.open({ ...how, ...(gpu && { gpu }) });
  };

  test('every part comes to its place, and nothing else changes, in each of three iterations', async () => {
    await using job = await ranks();
    const [from, to] = [job.devices[0]!.source, job.devices[1]!.target];
    await from.fill(5);
    await to.fill(6);
    await job.run(planOf, { iterations: 3 });
    let end = 0;
    for (const content of contentsOf(traffic, 1)) {
      const { offset, bytes: length } = content;
      const position = 'copyOf' in content ? content.copyOf.offset : 0;
      const between = { offset: end, bytes: offset - end, position: end };
      expect((await to.verify(5, { offset, bytes: length, position })).wrong).toBe(0);
      expect((await to.verify(6, between)).wrong).toBe(0);
      end = offset + length;
    }
    expect((await to.verify(6, { offset: end, position: end })).wrong).toBe(0);
  });

  test('a part outside either buffer is refused', async () => {
    await using job = await ranks();
    for (const field of ['from', 'to'] as const) {
      const plan = planOf(0);
      const steps = plan.steps.map((step) =>
        step.kind !== 'copy' || step.parts === undefined
          ? step
          : {
              ...step,
              parts: step.parts.map((part, i) => (i === 1 ? { ...part, [field]: bytes } : part)),
            },
      );
      await expect(job.run(() => ({ ...plan, steps }))).rejects.toThrow('outside its buffer');
    }
  });
}
