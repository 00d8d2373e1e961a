import { expect, test } from 'vitest';
import { ipc } from '../../src/benchmarks/ipc/ipc.js';
import { patientMs } from '../../src/memory/patience.js';
import { jobOf } from '../../src/runner/job.js';
import type { World, WorldOptions } from '../../src/world/index.js';
import { openRanks } from '../world/ranks-in-process.js';

const bytes = 2 ** 16;
const timeoutMs = 5000;

/** The world, and how long its ranks wait for each other, by the name of what they wait for. */
function watched(world: World, waits: Map<string, number | undefined>): World {
  return new Proxy(world, {
    get(_, key) {
      const value = Reflect.get(world, key, world);
      if (typeof value !== 'function') return value;
      return (name: string, given: unknown, options?: WorldOptions) => {
        if (key === 'allgather') waits.set(name, options?.timeoutMs);
        return value.call(world, name, given, options);
      };
    },
  });
}

test('weft ipc waits longer for rank 1 where it goes through more memory', async () => {
  await using ranks = await openRanks(2, { timeoutMs });
  const given = { minBytes: bytes, maxBytes: bytes, timeoutMs, iterations: 2, columns: ['Kernel'] };
  const job = jobOf(ipc, { ...given, producer: 'cpu', grid: [1], block: [1] });
  const waits = new Map<string, number | undefined>();
  const rows: string[] = [];
  const listener = {
    starting: () => {},
    row: ({ outcome }: { outcome: string }) => rows.push(outcome),
  };
  if (!('run' in ipc)) throw new Error('weft ipc runs by itself');
  const { run } = ipc;
  const runOn = (world: World) =>
    run({ ...job, world: watched(world, waits), listener, say: () => {} } as never);
  await Promise.all(ranks.worlds.map(runOn));
  expect(rows).toEqual(['passed']);
  const patience = patientMs(timeoutMs, bytes);
  expect(waits.get('shared memory')).toBe(patience);
  expect(waits.get('verified')).toBe(patience);
  expect(waits.get('memset')).toBeGreaterThan(patience);
});
