import { readHostFacts } from '../fabric/host-facts.js';
import { groupBy } from '../measure/group.js';
import { factKeys, type HostFacts, packFacts, type WorldFacts } from '../results/host-facts.js';
import { sameHost } from '../world/same-host.js';
import type { World } from '../world/world.js';

/** What should be equal on the hosts, on rank 0. Every rank calls it; the first rank of each host tells. */
export async function gatherFacts(
  world: World,
  libfabric: string | undefined,
): Promise<WorldFacts | undefined> {
  const { rank, hosts, members } = world;
  const first = members.findIndex((member) => sameHost(member, members[rank]!)) === rank;
  const mine = first ? readHostFacts({ libfabric }) : null;
  const all = await world.gather<HostFacts | null>('host facts', mine);
  if (!all) return undefined;
  const told = all.flatMap((facts, one) => (facts ? [{ facts, host: hosts[one]! }] : []));
  const byName = groupBy(told, ({ host }) => host);
  return packFacts([...byName.values()].map((alike) => merged(alike.map(({ facts }) => facts))));
}

/** Hosts of one name cannot be told apart: their values stand side by side. */
const merged = (alike: readonly HostFacts[]): HostFacts =>
  Object.fromEntries(
    factKeys.flatMap((key) => {
      const values = new Set(alike.flatMap((facts) => facts[key] ?? []));
      return values.size === 0 ? [] : [[key, [...values].join(' / ')]];
    }),
  );
