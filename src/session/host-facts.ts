import { readHostFacts } from '../fabric/host-facts.js';
import { type HostFacts, packFacts, type WorldFacts } from '../results/host-facts.js';
import type { World } from '../world/world.js';

/** What should be equal on the hosts, on rank 0. Every rank calls it; the first rank of each host tells. */
export async function gatherFacts(
  world: World,
  libfabric: string | undefined,
): Promise<WorldFacts | undefined> {
  const { rank, hosts } = world;
  const first = hosts.indexOf(hosts[rank]!) === rank;
  const mine = first ? readHostFacts({ libfabric }) : null;
  const all = await world.gather<HostFacts | null>('host facts', mine);
  return all && packFacts(all.flatMap((facts) => facts ?? []));
}
