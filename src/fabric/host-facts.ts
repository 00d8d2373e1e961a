import { existsSync } from 'node:fs';
import { release } from 'node:os';
import { basename } from 'node:path';
import { groupBy } from '../measure/group.js';
import { formatBytesRounded } from '../measure/units.js';
import { type HostFacts, labMachine } from '../results/host-facts.js';
import { list, read, realPath, sysfsRoot } from '../topology/sysfs-files.js';
import { readLimits } from './limits.js';
import { listNics, type Nic } from './nics.js';

interface FactSources {
  readonly sysfs?: string;
  /** The version that is loaded, where one is. */
  readonly libfabric?: string | undefined;
}

/** What should be equal on all hosts of a job, as this one has it. Files of sysfs only: it takes a few milliseconds. */
export function readHostFacts({ sysfs = sysfsRoot(), libfabric }: FactSources = {}): HostFacts {
  const all = listNics(sysfs);
  const nics = all.filter((nic) => couldCarry(nic, sysfs));
  const gpus = gpusOf(sysfs);
  const { lockedMemoryBytes, transparentHugePages } = readLimits(sysfs);
  const facts = {
    machine: machineOf(all, sysfs),
    ...nicFacts(nics, sysfs),
    gpus: gpus.length === 0 ? undefined : String(gpus.length),
    gpuPcie: byValue(gpus.map((gpu) => [basename(gpu), lanesOf(gpu)])),
    gpuDriver: read(`${sysfs}/module/nvidia/version`),
    libfabric,
    kernel: release(),
    clockSource: read(`${sysfs}/devices/system/clocksource/clocksource0/current_clocksource`),
    governor: governorOf(sysfs),
    hugePages: [`transparent ${transparentHugePages}`, ...reservedPages(sysfs)].join(', '),
    memlock: lockedMemoryBytes === undefined ? 'unlimited' : formatBytesRounded(lockedMemoryBytes),
  };
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
}

/** As the firmware calls it: on EC2, the instance type. A lab and emulated devices never pass for a machine. */
function machineOf(nics: readonly Nic[], sysfs: string): string | undefined {
  if (nics.some(({ management }) => management)) return labMachine;
  const product = read(`${sysfs}/class/dmi/id/product_name`);
  const emulated = product !== undefined && nics.some((nic) => nic.emulated);
  return emulated ? `emulated ${product}` : product;
}

/** What kind of machine this is, where its firmware says so. */
export const readMachine = (sysfs = sysfsRoot()): string | undefined =>
  machineOf(listNics(sysfs), sysfs);

/** RDMA devices, and interfaces with an address; no loopback, no network for management, no bridge of containers. */
const couldCarry = ({ kind, name, addresses, loopback, management }: Nic, sysfs: string) =>
  kind === 'rdma' ||
  (addresses.length > 0 &&
    !loopback &&
    !management &&
    !existsSync(`${sysfs}/class/net/${name}/bridge`));

function nicFacts(nics: readonly Nic[], sysfs: string): HostFacts {
  const each = (of: (nic: Nic, folder: string) => string | undefined) =>
    byValue(
      nics.map((nic) => {
        const room = nic.kind === 'rdma' ? 'infiniband' : 'net';
        return [nic.name, of(nic, `${sysfs}/class/${room}/${nic.name}`)];
      }),
    );
  const down = nics.filter(({ up }) => !up).map(({ name }) => name);
  const count = ['rdma', 'ethernet'].flatMap((kind) => {
    const { length } = nics.filter((nic) => nic.kind === kind);
    return length === 0 ? [] : [`${length} ${kind === 'rdma' ? 'RDMA' : 'Ethernet'}`];
  });
  return {
    nics:
      [...count, ...(down.length === 0 ? [] : [`down: ${down.join(' ')}`])].join(', ') || 'none',
    mtu: each(({ kind }, folder) => mtuOf(kind, folder)),
    link: each(({ rateGbps }) => (rateGbps === undefined ? undefined : `${rateGbps} Gbps`)),
    pcie: each((_, folder) => pcieOf(`${folder}/device`)),
    driver: each((_, folder) => driverOf(`${folder}/device/driver`, sysfs)),
    firmware: each(({ firmware }) => firmware),
  };
}

function mtuOf(kind: Nic['kind'], folder: string): string | undefined {
  if (kind === 'ethernet') return read(`${folder}/mtu`);
  const [netInterface] = list(`${folder}/device/net`);
  return netInterface && read(`${folder}/device/net/${netInterface}/mtu`);
}

/** `16 GT/s ×16`: what the link runs at. */
function pcieOf(device: string): string | undefined {
  const speed = /^[\d.]+ GT\/s/.exec(read(`${device}/current_link_speed`) ?? '')?.[0];
  const lanes = lanesOf(device);
  if (speed === undefined || lanes === undefined) return undefined;
  return `${speed.replace('.0 ', ' ')} ${lanes}`;
}

/** Of GPUs no speed: an idle one lowers it. */
function lanesOf(device: string): string | undefined {
  const width = read(`${device}/current_link_width`);
  return width === undefined || width === '0' ? undefined : `×${width}`;
}

function driverOf(link: string, sysfs: string): string | undefined {
  const name = basename(realPath(link) ?? '');
  return name === ''
    ? undefined
    : [name, read(`${sysfs}/module/${name}/version`)].filter(Boolean).join(' ');
}

const nvidia = '0x10de';

/** Folders of NVIDIA's display controllers. */
function gpusOf(sysfs: string): string[] {
  const devices = `${sysfs}/bus/pci/devices`;
  return list(devices)
    .map((name) => `${devices}/${name}`)
    .filter((device) => /^0x03/.test(read(`${device}/class`) ?? ''))
    .filter((device) => read(`${device}/vendor`) === nvidia);
}

function governorOf(sysfs: string): string | undefined {
  const policies = `${sysfs}/devices/system/cpu/cpufreq`;
  return byValue(
    list(policies).map((policy) => [policy, read(`${policies}/${policy}/scaling_governor`)]),
  );
}

/** `512 of 2048kB` */
function reservedPages(sysfs: string): string[] {
  const folder = `${sysfs}/kernel/mm/hugepages`;
  return list(folder).flatMap((size) => {
    const count = read(`${folder}/${size}/nr_hugepages`) ?? '0';
    return count === '0' ? [] : [`${count} of ${size.replace('hugepages-', '')}`];
  });
}

/** Of so many things with the same value the names are no help. */
const mostNames = 2;

/** One value where all that tell one agree; else each with who has it, the most frequent first. */
function byValue(values: readonly (readonly [string, string | undefined])[]): string | undefined {
  const told = values.filter(([, value]) => value !== undefined);
  const groups = [...groupBy(told, ([, value]) => value!)];
  if (groups.length <= 1) return groups[0]?.[0];
  return groups
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([value, some]) => {
      const names = some.map(([name]) => name);
      return `${value} (${names.length > mostNames ? `${names.length} times` : names.join(' ')})`;
    })
    .join(', ');
}
