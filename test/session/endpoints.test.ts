import { hostname } from 'node:os';
import { describe, expect, test } from 'vitest';
import { openEndpoints } from '../../src/session/endpoints.js';
import { openRanks } from '../world/ranks-in-process.js';

const whole = ['lo', 'lo', 'lo'];
/** An interface that this machine does not have cannot be opened. */
const broken = ['lo', 'absent1', 'lo'];

async function onRanks(nicsByRank: readonly (readonly string[])[], named = false) {
  await using ranks = await openRanks(nicsByRank.length);
  return await Promise.allSettled(
    ranks.worlds.map((world, rank) =>
      openEndpoints(world, { provider: 'tcp', nics: nicsByRank[rank]! }, named),
    ),
  );
}

describe('a NIC that does not open', () => {
  test('on one rank is left out on all, and told', async () => {
    for (const one of await onRanks([whole, broken])) {
      expect(one.status).toBe('fulfilled');
      if (one.status !== 'fulfilled') continue;
      expect(one.value.fabric.channels).toHaveLength(2);
      expect(one.value.unused).toEqual([
        {
          nic: 'absent1',
          host: hostname(),
          reason: 'does-not-open',
          text: 'cannot be opened: this host has no network interface absent1',
        },
      ]);
      await one.value.fabric.close();
    }
  });

  test('is an error where it was asked for by name', async () => {
    const [first] = await onRanks([broken], true);
    expect(first).toMatchObject({ status: 'rejected', reason: { code: 'NO_PROVIDER' } });
  });

  test('is an error where none is left', async () => {
    const [first] = await onRanks([['absent0', 'absent1', 'absent2']]);
    expect(first).toMatchObject({ status: 'rejected', reason: { code: 'NO_PROVIDER' } });
  });
});

test('where all open, nothing is left out', async () => {
  const [first] = await onRanks([whole]);
  expect(first).toMatchObject({ status: 'fulfilled', value: { unused: [] } });
  if (first?.status === 'fulfilled') await first.value.fabric.close();
});
