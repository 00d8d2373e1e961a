import { basename } from 'node:path';
import type { NativeInfo } from '../native/fabric.js';
import { list, read, realPath, sysfsRoot } from '../topology/sysfs-files.js';

/** What `info` tells of an RDMA device, beside what every NIC has. What nobody says is undefined. */
export interface RdmaFacts {
  readonly driver?: string | undefined;
  readonly deviceId?: string | undefined;
  /** As `4: ACTIVE`. */
  readonly portState?: string | undefined;
  readonly linkLayer?: string | undefined;
  readonly maxMessageBytes?: number | undefined;
  /** Whether an EFA device itself reads and writes remote memory. libfabric says so from 2.1 on. */
  readonly rdma?: boolean | undefined;
  /** Whether writes with an immediate arrive without a posted receive. */
  readonly unsolicitedWrites?: boolean | undefined;
  readonly gids: readonly Gid[];
}

export interface Gid {
  readonly index: number;
  readonly gid: string;
  /** `RoCE v2`; EFA devices have none. */
  readonly type?: string | undefined;
}

const rma = 1n << 2n;

/** What libfabric offers here: with every mode, and without that of receives for immediates. */
export interface Offered {
  readonly anyhow: readonly NativeInfo[];
  readonly unsolicited: readonly NativeInfo[];
}

export function rdmaFacts(name: string, offered: Offered, sysfs = sysfsRoot()): RdmaFacts {
  const base = `${sysfs}/class/infiniband/${name}`;
  const port = `${base}/ports/1`;
  const driver = basename(realPath(`${base}/device/driver`) ?? '') || undefined;
  const own = offered.anyhow.find(({ nic }) => nic?.name === name)?.nic;
  const direct = directOf(name, offered.anyhow);
  const unsolicited = directOf(name, offered.unsolicited);
  return {
    driver,
    deviceId: read(`${base}/device/device`),
    portState: read(`${port}/state`),
    linkLayer: read(`${port}/link_layer`),
    maxMessageBytes: driver === 'efa' ? own?.mtu : undefined,
    ...(direct && {
      rdma: (direct.caps & rma) !== 0n,
      unsolicitedWrites: unsolicited !== undefined && (unsolicited.caps & rma) !== 0n,
    }),
    gids: gidsOf(port),
  };
}

/** Only `efa-direct` shows what the device does by itself; `efa` offers all, and emulates what is missing. */
const directOf = (name: string, infos: readonly NativeInfo[]): NativeInfo | undefined =>
  infos.find(({ nic, fabric }) => nic?.name === name && fabric === 'efa-direct');

const gidsOf = (port: string): Gid[] =>
  list(`${port}/gids`)
    .map((index) => ({
      index: Number(index),
      gid: read(`${port}/gids/${index}`) ?? '',
      type: read(`${port}/gid_attrs/types/${index}`),
    }))
    .filter(({ gid }) => /[1-9a-f]/.test(gid))
    .sort((a, b) => a.index - b.index);

/** Software below EFA devices, and what a kernel on a GPU would need to post to them itself. */
export interface EfaFacts {
  readonly installer: string | undefined;
  readonly driver: string | undefined;
  readonly gpuPosting: readonly Need[];
}

interface Need {
  readonly what: string;
  readonly needed: string;
  readonly found: string | undefined;
  readonly met: boolean;
}

/** Where each fact is, so that tests can have others. */
const files = {
  installer: '/opt/amazon/efa_installed_packages',
  nvidia: '/proc/driver/nvidia/params',
};

export function efaFacts(paths = files, sysfs = sysfsRoot()): EfaFacts {
  const driver = read(`${sysfs}/module/efa/version`);
  const gdrcopy = read(`${sysfs}/module/gdrdrv/version`);
  const override = /PeerMappingOverride=(\d+)/.exec(read(paths.nvidia) ?? '')?.[1];
  const atLeast = (what: string, needed: string, found: string | undefined): Need => {
    return { what, needed, found, met: found !== undefined && isAtLeast(found, needed) };
  };
  return {
    installer: /version:\s*(\S+)/i.exec(read(paths.installer) ?? '')?.[1],
    driver,
    gpuPosting: [
      atLeast('efa.ko', '3.3', driver),
      atLeast('GDRCopy', '2.5', gdrcopy),
      { what: 'PeerMappingOverride', needed: '1', found: override, met: override === '1' },
    ],
  };
}

function isAtLeast(found: string, needed: string): boolean {
  const [a, b] = [found, needed].map((text) => text.split('.').map((n) => Number.parseInt(n, 10)));
  for (const [i, part] of b!.entries()) {
    const difference = (a![i] || 0) - part;
    if (difference !== 0) return difference > 0;
  }
  return true;
}
