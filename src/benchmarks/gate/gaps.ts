import type { Gap } from '../../analysis/diagnosis/gaps.js';
import { groupBy } from '../../measure/group.js';
import { isNetworkFault, type UnusedNic } from '../../session/unused-nic.js';

/**
 * Rails that do not carry, by the names of their nodes. `hosts` and `nodes` are by rank. A NIC that more than half of
 * the nodes have is missing where it is not.
 */
export function gateGaps(
  unused: readonly UnusedNic[],
  hosts: readonly string[],
  nodes: readonly string[],
): Gap[] {
  const nameOf = (host: string) => nodes[hosts.indexOf(host)] ?? host;
  const gaps = unused.filter(isNetworkFault).map(({ nic, host, peer }) => ({
    nic,
    from: nameOf(host),
    ...(peer !== undefined && { to: nameOf(peer) }),
  }));
  const lacking = unused.filter(({ reason }) => reason === 'fewer-elsewhere');
  const groups = groupBy(lacking, ({ nic, peer }) => JSON.stringify([nic, peer]));
  const missing = [...groups.values()].flatMap((alike): Gap[] => {
    const { nic, peer } = alike[0]!;
    const having = new Set(alike.map(({ host }) => host)).size;
    const most = having > new Set(nodes).size / 2;
    return most && peer !== undefined ? [{ nic, from: nameOf(peer) }] : [];
  });
  return [...gaps, ...missing];
}
