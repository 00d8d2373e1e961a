import { expect, test } from 'vitest';
import { type Plan, planVersion, type Step } from '../../src/plan/plan.js';
import { RanksInProcess } from './ranks-in-process.js';

const bytes = 256;

/** Rank 0 writes `transfers` blocks to rank 1, each with a slot of its own, from `firstSlot` on. */
function writes(transfers: number, firstSlot = 0) {
  return (rank: number): Plan => ({
    version: planVersion,
    rank,
    world: 2,
    channels: 1,
    chunkBytes: 100,
    window: 2,
    delivery: 'complete',
    sourceBytes: transfers * bytes,
    targetBytes: transfers * bytes,
    steps: Array.from({ length: transfers }, (_, i): Step => {
      const slot = firstSlot + i;
      const offset = i * bytes;
      return rank === 0
        ? {
            ...{ kind: 'post', op: 'write', channel: 0, peer: 1, slot, after: [] },
            local: { buffer: 'source', offset, bytes },
            remote: { offset },
          }
        : { kind: 'wait', source: 0, slot, offset, bytes, after: [] };
    }),
  });
}

const open = () =>
  RanksInProcess.open({
    ranks: 2,
    provider: 'tcp',
    channels: 1,
    bytes: 8 * bytes,
    acknowledged: true,
  });

/** Ranks that others left behind would wait for them. */
async function endAll({ fabrics }: RanksInProcess): Promise<void> {
  for (const { port } of fabrics) port.native.abort();
  const idle = () => {
    try {
      for (const { port } of fabrics) port.native.poll(1);
      return true;
    } catch {
      return false; // a plan still runs
    }
  };
  await expect.poll(idle).toBe(true);
}

test('a write is done when its target has counted all of it, iteration by iteration', async () => {
  await using job = await open();
  await job.sources[0]!.fill(1);
  const [samples] = await job.run(writes(8), { iterations: 50 });
  expect(samples).toHaveLength(50);
  expect(await job.targets[1]!.verify(1)).toMatchObject({ wrong: 0 });
});

test('plans of any delivery follow each other', async () => {
  await using job = await open();
  await job.run(writes(2), { iterations: 3 });
  await job.run(writes(4), { iterations: 3 });
  await job.run((rank) => ({ ...writes(2)(rank), delivery: 'transmit' }), { iterations: 3 });
});

test('more transfers than acknowledgements can name are refused', async () => {
  await using job = await open();
  const run = job.run(writes(1, 16_384));
  await expect(run).rejects.toThrow(/too many transfers to one peer/);
  await endAll(job);
});

test('a write that is never acknowledged ends at its deadline and names the peer', async () => {
  await using job = await open();
  const nothing = (rank: number): Plan =>
    rank === 0 ? writes(1)(0) : { ...writes(1)(1), steps: [] };
  const run = job.run(nothing, { timeoutMs: 300 });
  await expect(run).rejects.toThrow(/rank 1 did not receive the data sent/);
  await endAll(job);
});
