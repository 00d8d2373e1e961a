import { basename, join } from 'node:path';
import { parseList } from './cpu-set.js';
import type { Found, FoundDevice, FoundPort } from './found.js';
import { makeTopology } from './make-topology.js';
import type { NumaNode, Topology } from './model.js';
import { pciAddress } from './pci-address.js';
import { list, numaNodeOf, read, realPath, sysfsRoot } from './sysfs-files.js';

/** A NIC as whoever lists them describes it; see `listNics` of the fabric room. */
interface NicFacts {
  readonly name: string;
  readonly kind: 'ethernet' | 'rdma';
  readonly up: boolean;
  readonly rateGbps: number | undefined;
  readonly pci: string | undefined;
}

interface SysfsOptions {
  /** What the system's NICs are called, and their rates. */
  readonly nics: readonly NicFacts[];
  /** PCI addresses of GPUs that CUDA shows; a container may hide them from the bus. */
  readonly gpus?: readonly string[];
  /** Where sysfs is. */
  readonly sysfs?: string;
}

/** The tree of this machine. Without a PCI bus, as in some containers, it is empty. */
export function readSysfs({ nics, gpus = [], sysfs = sysfsRoot() }: SysfsOptions): Topology {
  const listed = new Set(list(join(sysfs, 'bus/pci/devices')));
  const hidden = gpus.flatMap((text) => {
    const pci = pciAddress(text);
    return pci === undefined || listed.has(pci) ? [] : [hiddenGpu(pci)];
  });
  return makeTopology({
    numaNodes: readNumaNodes(sysfs),
    roots: [...readTree(sysfs, nics), ...hidden],
  });
}

const nvidia3d = { classCode: 0x0302, vendor: 0x10de } as const;

const hiddenGpu = (pci: string): FoundDevice => ({
  pci,
  ...nvidia3d,
  device: 0,
  numaNode: undefined,
  linkGbps: undefined,
  ports: [],
  computes: true,
});

interface Place {
  /** Where sysfs keeps it. */
  readonly directory: string;
  readonly children: Map<string, Place>;
}

/**
 * The real path of a device leads through its bridges: `…/pci0000:44/0000:44:00.0/0000:45:00.0`. A host bridge may
 * itself be below a device, as with the domains of storage controllers, or below something that is not PCI at all.
 */
function readTree(sysfs: string, nics: readonly NicFacts[]): Found[] {
  const roots = new Map<string, Place>();
  for (const name of list(join(sysfs, 'bus/pci/devices'))) {
    const path = realPath(join(sysfs, 'bus/pci/devices', name));
    if (path === undefined) continue;
    let at = roots;
    let directory = '';
    for (const part of path.split('/').slice(1)) {
      directory += `/${part}`;
      const address = placeAddress(part);
      if (address === undefined) continue;
      const place = at.get(address) ?? { directory, children: new Map() };
      at.set(address, place);
      at = place.children;
    }
  }
  return [...roots].map(([address, place]) => foundAt(address, place, nics));
}

/** `0000:44` of `pci0000:44`, or a PCI address. */
const placeAddress = (part: string): string | undefined =>
  /^pci([0-9a-f]{4,}:[0-9a-f]{2})$/.exec(part)?.[1] ?? pciAddress(part);

const isHostAddress = (address: string): boolean => !address.includes('.');

const bridgeClass = 0x06;

function foundAt(address: string, place: Place, nics: readonly NicFacts[]): Found {
  const { directory } = place;
  const host = isHostAddress(address);
  const classCode = hex(join(directory, 'class')) >> 8;
  const children = [...place.children].map(([name, child]) => foundAt(name, child, nics));
  const leaf = children.length === 0 && !host;
  if (leaf) return deviceAt(address, directory, classCode, nics);
  return {
    address,
    host,
    numaNode: host ? commonNode(children) : numaNodeOf(directory),
    linkGbps: linkGbpsOf(directory),
    children,
  };
}

function deviceAt(
  pci: string,
  directory: string,
  classCode: number,
  nics: readonly NicFacts[],
): FoundDevice {
  const physical = realPath(join(directory, 'physfn'));
  return {
    pci,
    classCode,
    vendor: hex(join(directory, 'vendor')),
    device: hex(join(directory, 'device')),
    numaNode: numaNodeOf(directory),
    linkGbps: classCode >> 8 === bridgeClass ? undefined : linkGbpsOf(directory),
    ports: nics.filter((nic) => nic.pci === pci).map(portOf),
    computes: false,
    ...(physical !== undefined && { virtualOf: basename(physical) }),
  };
}

const portOf = ({ name, kind, rateGbps, up }: NicFacts): FoundPort => ({
  name,
  kind: kind === 'rdma' ? 'rdma' : 'network',
  rateGbps,
  up,
});

const commonNode = (children: readonly Found[]): number | undefined => {
  const nodes = new Set(children.map((child) => child.numaNode));
  return nodes.size === 1 ? [...nodes][0] : undefined;
};

/** Bits that carry data of those on the wire, by transfers per second and lane. */
const encodings = [
  { upToGigatransfers: 5, share: 8 / 10 },
  { upToGigatransfers: 32, share: 128 / 130 },
  { upToGigatransfers: Number.POSITIVE_INFINITY, share: 242 / 256 },
] as const;

/**
 * What a device's link carries in one direction. The speed is the highest that both ends can do, since idle GPUs slow
 * their links down; the width is the present one, since a link that lost lanes does not get them back.
 */
function linkGbpsOf(directory: string): number | undefined {
  const lanes = Number(read(join(directory, 'current_link_width')) ?? '0');
  const speeds = [directory, join(directory, '..')]
    .map((end) => Number.parseFloat(read(join(end, 'max_link_speed')) ?? ''))
    .filter((speed) => speed > 0);
  if (!(lanes > 0) || lanes > 32 || speeds.length === 0) return undefined;
  const speed = Math.min(...speeds);
  const encoding = encodings.find(({ upToGigatransfers }) => speed <= upToGigatransfers)!;
  return Number((speed * lanes * encoding.share).toFixed(3));
}

function readNumaNodes(sysfs: string): NumaNode[] {
  const base = join(sysfs, 'devices/system/node');
  return list(base).flatMap((name) => {
    const node = /^node(\d+)$/.exec(name)?.[1];
    if (node === undefined) return [];
    const cores = parseList(read(join(base, name, 'cpulist')) ?? '');
    return [{ node: Number(node), cores: bySiblings(cores, sysfs) }];
  });
}

/** Hyperthreads are numbered far apart; a share of the cores should hold whole cores. */
function bySiblings(cores: readonly number[], sysfs: string): number[] {
  const first = new Map(
    cores.map((core) => {
      const topology = join(sysfs, `devices/system/cpu/cpu${core}/topology`);
      const siblings = parseList(read(join(topology, 'thread_siblings_list')) ?? '');
      return [core, siblings[0] ?? core];
    }),
  );
  return [...cores].sort((a, b) => first.get(a)! - first.get(b)! || a - b);
}

const hex = (path: string): number => Number.parseInt(read(path) ?? '0', 16);
