import { networkInterfaces } from 'node:os';
import { basename } from 'node:path';
import { list, numaNodeOf, read, realPath, sysfsRoot } from '../topology/sysfs-files.js';
import { isEmulated } from './emulated.js';

/** A network interface or RDMA device of this machine. */
export interface Nic {
  readonly name: string;
  readonly kind: 'ethernet' | 'rdma';
  /** IP addresses, IPv4 first; empty for RDMA devices. */
  readonly addresses: readonly string[];
  readonly loopback: boolean;
  readonly up: boolean;
  /** Undefined where the driver does not tell (virtual interfaces). */
  readonly rateGbps: number | undefined;
  readonly pci: string | undefined;
  readonly numaNode: number | undefined;
  /** Set where a shaper makes the rate: so much passes at full speed after a pause. */
  readonly burstBytes?: number;
  /** For management, not for data: never a rail. */
  readonly management?: boolean;
  /** Set up, but without a carrier, as when a cable is pulled. */
  readonly noCarrier?: boolean;
  /** Of RDMA devices. */
  readonly firmware?: string;
  /** There is no such hardware here. */
  readonly emulated?: boolean;
}

/** A virtio interface is a device of its own below the one on the bus. */
function pciOf(device: string): string | undefined {
  const name = basename(realPath(device)?.replace(/\/virtio\d+$/, '') ?? '');
  return /^[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]$/.test(name) ? name : undefined;
}

/** `25 Gb/sec (1X EDR)` */
export function parseRdmaRate(text: string | undefined): number | undefined {
  const match = /^([\d.]+) Gb\/sec/.exec(text ?? '');
  return match ? Number(match[1]) : undefined;
}

/**
 * What whoever made an interface says of it in its alias, in the words `weft:rate=250000000,burst=20048` or
 * `weft:management`: drivers of virtual interfaces tell no rate, or a false one.
 */
export function parseAlias(alias: string | undefined): Partial<Nic> {
  if (alias === 'weft:management') return { management: true };
  const match = /^weft:rate=(\d+)(?:,burst=(\d+))?$/.exec(alias ?? '');
  if (match === null) return {};
  return {
    rateGbps: Number(match[1]) / 1e9,
    ...(match[2] !== undefined && { burstBytes: Number(match[2]) }),
  };
}

const administrativelyUp = 1;

function ethernetNic(name: string, sysfs: string): Nic {
  const speedMbps = Number(read(`${sysfs}/class/net/${name}/speed`) ?? '-1');
  const device = `${sysfs}/class/net/${name}/device`;
  const entries = networkInterfaces()[name] ?? [];
  const usable = entries.filter((entry) => !(entry.family === 'IPv6' && entry.scopeid));
  const state = read(`${sysfs}/class/net/${name}/operstate`);
  const wanted = Number(read(`${sysfs}/class/net/${name}/flags`) ?? '0') & administrativelyUp;
  return {
    name,
    kind: 'ethernet',
    addresses: usable
      .sort((a, b) => a.family.localeCompare(b.family))
      .map((entry) => entry.address),
    loopback: read(`${sysfs}/class/net/${name}/type`) === '772',
    up: state === 'up' || (state === 'unknown' && entries.length > 0),
    rateGbps: speedMbps > 0 ? speedMbps / 1000 : undefined,
    pci: pciOf(device),
    numaNode: numaNodeOf(device),
    ...parseAlias(read(`${sysfs}/class/net/${name}/ifalias`)),
    ...(wanted && state !== 'up' && state !== 'unknown' && { noCarrier: true }),
  };
}

/** Where an interface belongs to the same device, as with RoCE, what its alias says counts for both. */
function rdmaNic(name: string, sysfs: string): Nic {
  const base = `${sysfs}/class/infiniband/${name}`;
  const [netInterface] = list(`${base}/device/net`);
  const firmware = read(`${base}/fw_ver`);
  return {
    name,
    kind: 'rdma',
    addresses: [],
    loopback: false,
    up: (read(`${base}/ports/1/state`) ?? '').includes('ACTIVE'),
    rateGbps: parseRdmaRate(read(`${base}/ports/1/rate`)),
    pci: pciOf(`${base}/device`),
    numaNode: numaNodeOf(`${base}/device`),
    ...(firmware && { firmware }),
    ...(isEmulated(firmware) && { emulated: true }),
    ...(netInterface && parseAlias(read(`${sysfs}/class/net/${netInterface}/ifalias`))),
  };
}

/** Every NIC of this machine, loopback included, RDMA devices first. */
export function listNics(sysfs = sysfsRoot()): Nic[] {
  return [
    ...list(`${sysfs}/class/infiniband`).map((name) => rdmaNic(name, sysfs)),
    ...list(`${sysfs}/class/net`).map((name) => ethernetNic(name, sysfs)),
  ];
}
