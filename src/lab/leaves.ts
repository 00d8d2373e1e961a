import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { ipIn, tcIn } from './commands.js';
import {
  hostName,
  leafBridge,
  leafName,
  leafOf,
  railName,
  spineName,
  switchSpace,
  uplink,
} from './names.js';
import { shapeLines } from './shape.js';
import { type LabSpec, type LabState, topologyFile } from './state.js';

const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

export const bridge = (name: string, { mtu }: LabSpec): string[] => [
  `link add ${name} mtu ${mtu} type bridge stp_state 0 forward_delay 0 mcast_snooping 0`,
  `link set ${name} addrgenmode none up`,
];

/** The bridge that a host's NIC is attached to. */
export const switchOf = (host: number, nic: number, { hosts, leaves }: LabSpec): string =>
  leaves === undefined ? railName(nic) : leafBridge(nic, leafOf(host, hosts, leaves));

/** A bridge per leaf and rail, linked to the rail's own bridge, which is the spine; and the file that says so. */
export function buildLeaves({ name, spec }: LabState, leaves: number): void {
  const links = range(spec.nics).flatMap((nic) => range(leaves).map((leaf) => ({ nic, leaf })));
  const center = switchSpace(name);
  ipIn(
    center,
    links.flatMap(({ nic, leaf }) => {
      const { up, down } = uplink(nic, leaf);
      return [
        ...bridge(leafBridge(nic, leaf), spec),
        `link add ${up} mtu ${spec.mtu} type veth peer name ${down} mtu ${spec.mtu}`,
        `link set ${up} master ${leafBridge(nic, leaf)} addrgenmode none up`,
        `link set ${down} master ${railName(nic)} addrgenmode none up`,
      ];
    }),
  );
  const { spineBitsPerSecond: bits, delayMs: _, ...undelayed } = spec;
  if (bits !== undefined) {
    tcIn(
      center,
      links.flatMap(({ nic, leaf }) =>
        Object.values(uplink(nic, leaf)).flatMap((port) => shapeLines(port, undelayed, bits)),
      ),
    );
  }
  mkdirSync(dirname(topologyFile(name)), { recursive: true });
  writeFileSync(topologyFile(name), topologyOf(spec.hosts, leaves));
}

/** The network of a lab, as `pairs` reads it. */
export function topologyOf(hosts: number, leaves: number): string {
  const lines = range(leaves).map((leaf) => {
    const own = range(hosts).filter((host) => leafOf(host, hosts, leaves) === leaf);
    return `  ${leafName(leaf)}: [${own.map(hostName).join(', ')}]`;
  });
  const all = range(leaves).map(leafName).join(', ');
  return `leaves:\n${lines.join('\n')}\nspines:\n  ${spineName}: [${all}]\n`;
}
