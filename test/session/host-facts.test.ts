import { expect, test } from 'vitest';
import { gatherFacts } from '../../src/session/host-facts.js';
import { openRanks } from '../world/ranks-in-process.js';

/** What two ranks gather whose libfabric differs, on these hosts and in these network namespaces. */
async function gathered(hosts: readonly string[], spaces: readonly string[]) {
  await using ranks = await openRanks(2);
  const all = await Promise.all(
    ranks.worlds.map((world, rank) => {
      const members = world.members.map((member, i) => ({ ...member, netns: spaces[i]! }));
      return gatherFacts({ ...world, hosts, members }, rank === 0 ? '1.17' : '2.1');
    }),
  );
  expect(all[1]).toBeUndefined();
  return all[0]!.libfabric;
}

test('every host tells once, by its first rank', async () => {
  expect(await gathered(['a', 'a'], ['n0', 'n0'])).toBe('1.17');
  expect(await gathered(['a', 'b'], ['n0', 'n1'])).toEqual({ 1.17: '0', 2.1: '1' });
});

test('hosts of one name tell of each, side by side', async () => {
  expect(await gathered(['a', 'a'], ['n0', 'n1'])).toBe('1.17 / 2.1');
});
