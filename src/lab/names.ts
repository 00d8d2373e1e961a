/*
 * Everything a lab owns is a network namespace with one of these names, or lies inside one. Labs use the same
 * addresses: they do not see each other.
 */
const prefix = 'weft-lab.';

export const switchSpace = (lab: string): string => `${prefix}${lab}.sw`;
export const hostSpace = (lab: string, host: number): string => `${prefix}${lab}.h${host}`;
export const spacesOf = (lab: string, hosts: number): string[] => [
  switchSpace(lab),
  ...Array.from({ length: hosts }, (_, host) => hostSpace(lab, host)),
];

/** The lab a namespace belongs to; undefined when it is none of ours. */
export const labOfSpace = (space: string): string | undefined =>
  /^weft-lab\.([a-z0-9-]+)\.(?:sw|h\d+)$/.exec(space)?.[1];

export const hostName = (host: number): string => `h${host}`;
export const nicName = (nic: number): string => `nic${nic}`;
export const railName = (nic: number): string => `rail${nic}`;
/** The switch of one leaf on a rail; the rail's own bridge is then its spine. */
export const leafBridge = (nic: number, leaf: number): string => `${railName(nic)}l${leaf}`;
/** The link between a leaf and its spine: the leaf's side and the spine's. */
export const uplink = (nic: number, leaf: number): { up: string; down: string } => ({
  up: `${leafBridge(nic, leaf)}u`,
  down: `${leafBridge(nic, leaf)}d`,
});
export const spineName = 'spine0';
export const leafName = (leaf: number): string => `leaf${leaf}`;
/** The leaf of a host: neighbours share one. */
export const leafOf = (host: number, hosts: number, leaves: number): number =>
  Math.floor((host * leaves) / hosts);
/** The switch's side of a host's NIC. */
export const portName = (host: number, nic: number): string => `h${host}r${nic}`;

export const railNetwork = (nic: number): string => `10.77.${nic}.0/24`;
export const railAddress = (host: number, nic: number): string => `10.77.${nic}.${host + 1}`;

/** Where ranks meet, unshaped and apart from the rails: a rail that is down does not silence its host. */
export const management = {
  nic: 'mgmt',
  bridge: 'mgmt',
  port: (host: number): string => `h${host}mgmt`,
  address: (host: number): string => `10.77.255.${host + 1}`,
} as const;
