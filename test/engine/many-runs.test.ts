import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { buildMemory, openMemory } from '../../scripts/soak-memory.cjs';
import type { NativeJob } from '../../src/native/fabric.js';
import { oneToEach } from '../../src/plan/patterns/one-to-each.js';
import { single } from '../../src/plan/strategies.js';
import { RanksInProcess } from './ranks-in-process.js';

const bytes = 64 * 2 ** 10;
const watched = { silenceMs: 1 } as Partial<NativeJob>;
const transfer = { world: 2, from: 0, bytes, channels: 1, chunkBytes: 4096, window: 4 };

test.each(['shm', 'tcp'])('500 runs of a plan over %s leave no memory behind', async (provider) => {
  const folder = mkdtempSync(join(tmpdir(), 'weft-memory-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  buildMemory(folder);
  const held = openMemory(folder);
  await using job = await RanksInProcess.open({ ranks: 2, provider, channels: 1, bytes });
  const after = async (runs: number) => {
    for (let run = 0; run < runs; run++) {
      await job.run((rank) => oneToEach({ ...transfer, rank, strategy: single }), watched);
    }
    // What finalizers and other threads free comes after a collection.
    for (let i = 0; i < 3; i++) {
      held();
      await sleep(30);
    }
    return held();
  };
  // Pools take their size, functions are compiled.
  const before = await after(100);
  const now = await after(500);
  // 256 bytes for each run of each rank; a run that is kept has more.
  expect(now.mallocKiB - before.mallocKiB).toBeLessThan(250);
  expect(now.heapKiB - before.heapKiB).toBeLessThan(250);
});
