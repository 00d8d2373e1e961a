import { describe, expect, test } from 'vitest';
import { WeftError } from '../../src/errors.js';
import { type FabricOptions, openFabric } from '../../src/fabric/fabric.js';
import { openUsable } from '../../src/session/open-usable.js';
import { openRanks } from '../world/ranks-in-process.js';

/** Real endpoints on loopback, for every NIC but those called broken on this rank. */
const openWith = (broken: readonly string[]) => (options: FabricOptions) => {
  const bad = options.nics?.find((nic) => broken.includes(nic));
  if (bad !== undefined)
    throw new WeftError('FABRIC_FAULT', `fi_endpoint on ${bad}: no such device`);
  return openFabric({ ...options, nics: options.nics!.map(() => 'lo') });
};

const options: FabricOptions = { provider: 'tcp', nics: ['efa0', 'efa1', 'efa2'] };

async function onRanks(brokenByRank: readonly (readonly string[])[], asked = false) {
  await using ranks = await openRanks(brokenByRank.length);
  return await Promise.allSettled(
    ranks.worlds.map((world, rank) =>
      openUsable(world, options, {
        asked,
        open: async (one) => openWith(brokenByRank[rank]!)(one),
      }),
    ),
  );
}

describe('a NIC that does not open', () => {
  test('on one rank is left out on all, and told', async () => {
    const [first, second] = await onRanks([[], ['efa1']]);
    for (const one of [first!, second!]) {
      expect(one.status).toBe('fulfilled');
      if (one.status !== 'fulfilled') continue;
      expect(one.value.fabric.channels).toHaveLength(2);
      expect(one.value.unopened).toEqual([
        expect.stringMatching(/^efa1 does not open: fi_endpoint on efa1: no such device \(.+\)$/),
      ]);
      await one.value.fabric.close();
    }
  });

  test('is an error where it was asked for by name', async () => {
    const [first] = await onRanks([['efa1']], true);
    expect(first).toMatchObject({ status: 'rejected', reason: { code: 'FABRIC_FAULT' } });
  });

  test('is an error where none is left', async () => {
    const [first] = await onRanks([['efa0', 'efa1', 'efa2']]);
    expect(first).toMatchObject({ status: 'rejected', reason: { code: 'FABRIC_FAULT' } });
  });
});

test('where all open, nothing is left out', async () => {
  const [first] = await onRanks([[]]);
  expect(first).toMatchObject({ status: 'fulfilled', value: { unopened: [] } });
  if (first?.status === 'fulfilled') await first.value.fabric.close();
});
