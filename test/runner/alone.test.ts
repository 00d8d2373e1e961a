import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { rankZeroAlone } from '../../src/runner/alone.js';
import { openRanks } from '../world/ranks-in-process.js';

const timeoutMs = 400;

test('work of rank 0 may take longer than the time-out', async () => {
  await using ranks = await openRanks(3, { timeoutMs });
  const all = await Promise.all(
    ranks.worlds.map((world) =>
      rankZeroAlone(world, timeoutMs, async () => {
        await sleep(3 * timeoutMs);
        return world.rank;
      }),
    ),
  );
  expect(all).toEqual([0, undefined, undefined]);
});

test('an error of rank 0 is its own', async () => {
  await using ranks = await openRanks(1, { timeoutMs });
  const failing = rankZeroAlone(ranks.worlds[0]!, timeoutMs, () => Promise.reject(new Error('no')));
  await expect(failing).rejects.toThrow('no');
});
