import { mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { WeftError } from '../../errors.js';
import { formatList, parseList } from '../../topology/cpu-set.js';
import { read } from '../../topology/sysfs-files.js';
import { type Capability, efaName, type Machine, type Place } from './machines.js';

/** One emulated device: what carries it, and how it misbehaves. */
export interface EmulatedNic {
  /** IPv4 address that the device's sockets bind to. */
  readonly address: string;
  /** The interface with that address, where the device has one of its own. */
  readonly netInterface?: string;
  readonly faults?: Faults;
}

/** Keys of devices/efa/README.md. A device without any is healthy. */
export type Faults = Readonly<Record<string, string>>;

export interface TreeOptions {
  readonly machine: Machine;
  /** The k-th is carried by the machine's k-th EFA device, by PCI address. */
  readonly nics: readonly EmulatedNic[];
  /** Put the machine's GPUs on the bus. CUDA decides whether anyone can use them. */
  readonly gpus?: boolean;
  /** Instead of the machine's. */
  readonly capabilities?: readonly Capability[];
  /** The rate of the links that carry the devices, where it is not the machine's. */
  readonly bitsPerSecond?: number;
  /** Deliver in the order of posting. Hardware does not. */
  readonly ordered?: boolean;
  readonly seed?: number;
}

/** The real one: interfaces, cores and the kernel's settings are this machine's. */
const kernelSysfs = '/sys';

/** Writes what the kernel would show of these devices into a folder that is new or empty. */
export function plantTree(root: string, options: TreeOptions): void {
  const { machine, nics } = options;
  refuseUsed(root);
  if (nics.length < 1 || nics.length > machine.efas.length) {
    throw new WeftError(
      'BAD_USAGE',
      `a ${machine.instance} cannot have ${nics.length} EFA devices`,
      {
        hint: `Use 1 to ${machine.efas.length}.`,
      },
    );
  }
  const plant = new Planter(root);
  plant.files('class/infiniband_verbs', { abi_version: '6' });
  plant.files('module/efa', { version: '2.17.2g emulated' });
  plant.files('bus/pci/drivers/efa', {});
  plant.files('class/infiniband', {});
  plant.link('class/net', `${kernelSysfs}/class/net`);
  plant.link('kernel', `${kernelSysfs}/kernel`);
  // A machine whose links have another rate must not be judged by what is published of that machine.
  if (options.bitsPerSecond === undefined) {
    plant.files('class/dmi/id', { product_name: machine.instance });
  }
  plantNodes(plant, machine.numaNodes);
  for (const [index, nic] of nics.entries()) plantEfa(plant, index, nic, options);
  if (options.gpus) plantOthers(plant, machine);
}

/** GPUs, and adapters that are not EFA devices. */
function plantOthers(plant: Planter, { gpus, gpu, others }: Machine): void {
  const { device: id, pcie } = gpu;
  for (const place of gpus) plant.pci(place, { classCode: '0x030200', vendor: nvidia, id, pcie });
  for (const place of others?.places ?? []) {
    plant.pci(place, { classCode: '0x020700', ...infiniBand, pcie: others!.pcie });
  }
}

function refuseUsed(root: string): void {
  mkdirSync(root, { recursive: true });
  if (readdirSync(root).length === 0) return;
  throw new WeftError('BAD_USAGE', `${root} is not empty`, { hint: 'Name a new folder.' });
}

/** Writes below one folder. */
class Planter {
  readonly #root: string;
  readonly #bridges = new Set<string>();

  constructor(root: string) {
    this.#root = root;
  }

  files(folder: string, files: Readonly<Record<string, string>>): void {
    mkdirSync(join(this.#root, folder), { recursive: true });
    for (const [name, text] of Object.entries(files)) {
      const path = join(this.#root, folder, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, `${text}\n`);
    }
  }

  /** To an absolute path, or to one below the root. */
  link(path: string, target: string): void {
    mkdirSync(join(this.#root, dirname(path)), { recursive: true });
    const to = target.startsWith('/') ? target : relative(dirname(path), target);
    symlinkSync(to, join(this.#root, path));
  }

  /** A device and the bridges that lead to it; returns its folder. */
  pci({ path, numaNode }: Place, device: PciDevice): string {
    const parts = path.split('/');
    for (let depth = 2; depth <= parts.length; depth++) {
      const folder = `devices/${parts.slice(0, depth).join('/')}`;
      if (this.#bridges.has(folder)) continue;
      this.#bridges.add(folder);
      const { classCode, vendor, id } = depth === parts.length ? device : bridge;
      this.files(folder, {
        class: classCode,
        vendor: hex(vendor),
        device: hex(id),
        numa_node: String(numaNode),
        max_link_speed: `${device.pcie.gigatransfers.toFixed(1)} GT/s PCIe`,
        current_link_width: String(device.pcie.lanes),
      });
      this.link(`bus/pci/devices/${basename(folder)}`, folder);
    }
    return `devices/${path}`;
  }
}

const hex = (id: number): string => `0x${id.toString(16).padStart(4, '0')}`;

interface PciDevice {
  readonly classCode: string;
  readonly vendor: number;
  readonly id: number;
  readonly pcie: { readonly gigatransfers: number; readonly lanes: number };
}

const amazon = 0x1d0f;
const nvidia = 0x10de;
const infiniBand = { vendor: 0x15b3, id: 0x101e };
const bridge = { classCode: '0x060400', vendor: amazon, id: 0x0200 };

/** This machine's cores, dealt out to the nodes of the other. */
function plantNodes(plant: Planter, nodes: number): void {
  const cores = parseList(read(`${kernelSysfs}/devices/system/cpu/online`) ?? '0');
  const end = (node: number) => Math.floor((node * cores.length) / nodes);
  for (let node = 0; node < nodes; node++) {
    const cpulist = formatList(cores.slice(end(node), end(node + 1)));
    plant.files(`devices/system/node/node${node}`, { cpulist });
  }
  plant.link('devices/system/cpu', `${kernelSysfs}/devices/system/cpu`);
}

function plantEfa(plant: Planter, index: number, nic: EmulatedNic, options: TreeOptions): void {
  const { machine, bitsPerSecond } = options;
  const { part, pcie, rateGbps, rateName } = machine.efa;
  const place = machine.efas[index]!;
  const name = efaName(place);
  const pci = plant.pci(place, { classCode: '0x020000', vendor: amazon, id: part, pcie });
  plant.link(`${pci}/driver`, 'bus/pci/drivers/efa');

  const device = `${pci}/infiniband/${name}`;
  const rate = bitsPerSecond === undefined ? `${rateGbps} Gb/sec (${rateName})` : undefined;
  plant.files(device, {
    fw_ver: `weft-emulated-${machine.id}`,
    hw_rev: hex(part),
    node_type: '7: unspecified',
    node_guid: `0000:0000:0000:${index.toString(16).padStart(4, '0')}`,
    'ports/1/state': '4: ACTIVE',
    'ports/1/phys_state': '5: LinkUp',
    'ports/1/link_layer': 'Unspecified',
    'ports/1/rate': rate ?? `${bitsPerSecond! / 1e9} Gb/sec`,
    'ports/1/gids/0': gid(nic.address),
    ...Object.fromEntries(counters.map((counter) => [`ports/1/hw_counters/${counter}`, '0'])),
    'ports/1/hw_counters/lifespan': String(lifespanMs),
  });
  plant.link(`${device}/device`, pci);
  plant.link(`class/infiniband/${name}`, device);

  const verbs = `${pci}/infiniband_verbs/uverbs${index}`;
  plant.files(verbs, { ibdev: name, abi_version: '1', dev: `231:${192 + index}` });
  plant.link(`${verbs}/device`, pci);
  plant.link(`class/infiniband_verbs/uverbs${index}`, verbs);

  const { netInterface, faults = {} } = nic;
  if (netInterface !== undefined) {
    plant.link(`${pci}/net/${netInterface}`, `${kernelSysfs}/class/net/${netInterface}`);
  }
  plant.files(`${pci}/emulation`, {
    attributes: pairs(attributesOf(nic, index, options)),
    faults: pairs(faults),
  });
}

const gid = (address: string): string => {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
  const group = (high: number, low: number) => (high * 256 + low).toString(16).padStart(4, '0');
  return `${'0000:'.repeat(5)}ffff:${group(a, b)}:${group(c, d)}`;
};

const lifespanMs = 10;

/** All that the driver counts; the library keeps them. */
const counters: readonly string[] = [
  ...['tx_bytes', 'tx_pkts', 'rx_bytes', 'rx_pkts', 'rx_drops'],
  ...['send_bytes', 'send_wrs', 'recv_bytes', 'recv_wrs'],
  ...['rdma_write_wrs', 'rdma_write_bytes', 'rdma_write_wr_err', 'rdma_write_recv_bytes'],
  ...['rdma_read_wrs', 'rdma_read_bytes', 'rdma_read_wr_err', 'rdma_read_resp_bytes'],
  ...['retrans_bytes', 'retrans_pkts', 'retrans_timeout_events'],
  ...['unresponsive_remote_events', 'impaired_remote_conn_events'],
];

function attributesOf({ address }: EmulatedNic, index: number, options: TreeOptions) {
  const { machine, ordered = false, seed = 1 } = options;
  const { part, speed, width } = machine.efa;
  return {
    address,
    machine: machine.id,
    vendor_id: hex(amazon),
    part_id: hex(part),
    mtu: 8928,
    speed,
    width,
    sq_depth: 4096,
    rq_depth: 8192,
    inline: 32,
    sq_sge: 2,
    rq_sge: 2,
    max_rdma: 2 ** 30,
    caps: (options.capabilities ?? machine.efa.capabilities).join(','),
    shuffle: ordered ? 0 : 1,
    seed: seed + index,
    lifespan_ms: lifespanMs,
  };
}

const pairs = (values: Readonly<Record<string, string | number>>): string =>
  Object.entries(values)
    .map(([key, value]) => `${key}=${value}`)
    .join('\n');

/** Changes how a device misbehaves, also while it is in use. */
export function writeFaults(root: string, machine: Machine, index: number, faults: Faults): void {
  const folder = join(root, 'devices', machine.efas[index]!.path, 'emulation');
  const next = join(folder, `faults.${process.pid}`);
  writeFileSync(next, `${pairs(faults)}\n`);
  renameSync(next, join(folder, 'faults'));
}
