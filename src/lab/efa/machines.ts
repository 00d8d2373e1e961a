/** What an EFA device can do, by the names its attributes file uses. */
export const capabilities = ['read', 'rnr', 'source', 'write', 'unsolicited'] as const;
export type Capability = (typeof capabilities)[number];

interface Pcie {
  readonly gigatransfers: number;
  readonly lanes: number;
}

/** A device on the bus. */
export interface Place {
  readonly pci: string;
  /** Below `devices`: the host bridge, the bridges, the device. */
  readonly path: string;
  readonly numaNode: number;
}

/** A kind of EC2 machine: its EFA devices and GPUs, where they are and what they can do. */
export interface Machine {
  readonly id: string;
  readonly instance: string;
  readonly numaNodes: number;
  readonly efas: readonly Place[];
  readonly gpus: readonly Place[];
  /** Adapters of another kind, which show no port. */
  readonly others?: { readonly places: readonly Place[]; readonly pcie: Pcie };
  /** NICs below the first bridge that leads to a GPU. */
  readonly nicsPerGroup: number;
  readonly efa: {
    readonly part: number;
    readonly rateGbps: number;
    /** As the driver writes it after the rate. */
    readonly rateName: string;
    /** Codes of InfiniBand for speed and width. */
    readonly speed: number;
    readonly width: number;
    readonly capabilities: readonly Capability[];
    readonly pcie: Pcie;
  };
  readonly gpu: { readonly device: number; readonly pcie: Pcie };
}

const hex = (value: number): string => value.toString(16).padStart(2, '0');
const address = (bus: number, slot: number, fn = 0): string =>
  `0000:${hex(bus)}:${hex(slot)}.${fn}`;

/** PCIe switches: by the bus of their root port, and where behind it the devices are. */
interface Switch {
  readonly bus: number;
  readonly numaNode: number;
  /** Buses, counted from the root port's. */
  readonly efas: readonly number[];
  readonly gpus: readonly number[];
}

/** Root port, upstream port, and one downstream port per bus: port 01.3 leads to the 12th bus. */
function behindSwitch({ bus, numaNode }: Switch, offset: number): Place {
  const port = offset - 3;
  const ports = [address(bus, 0), address(bus + 1, 0), address(bus + 2, port >> 3, port & 7)];
  const pci = address(bus + offset, 0);
  return { pci, path: [`pci0000:${hex(bus)}`, ...ports, pci].join('/'), numaNode };
}

const switched = (switches: readonly Switch[]) => ({
  numaNodes: 2,
  efas: switches.flatMap((one) => one.efas.map((offset) => behindSwitch(one, offset))),
  gpus: switches.flatMap((one) => one.gpus.map((offset) => behindSwitch(one, offset))),
  nicsPerGroup: switches[0]!.efas.length,
});

/** Devices in slots of a host bridge. */
function slots(bus: number, numaNode: number, numbers: readonly number[]): Place[] {
  return numbers.map((slot) => {
    const pci = address(bus, slot);
    return { pci, path: `pci0000:${hex(bus)}/${pci}`, numaNode };
  });
}

/** Recorded: names, addresses, NUMA nodes, link speeds. Composed: that no switch lies between. */
const p4dBuses = [0x10, 0x20, 0x90, 0xa0];
const p4d = {
  numaNodes: 2,
  efas: p4dBuses.flatMap((bus, i) => slots(bus, i >> 1, [0x1b])),
  gpus: p4dBuses.flatMap((bus, i) => slots(bus, i >> 1, [0x1c, 0x1d])),
  nicsPerGroup: 1,
};

/** Recorded, every bridge of it, with hwloc on a p5.48xlarge. */
const p5 = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => ({
  bus: 0x44 + 17 * i,
  numaNode: i >> 2,
  efas: [11, 12, 13, 14],
  gpus: [15],
}));

/** Recorded: all addresses, and the bridges of the first switch. Composed: the other switches are like it. */
const p5en = [0, 1, 2, 3].map((i) => ({
  bus: 0x44 + 25 * i,
  numaNode: i >> 1,
  efas: [17, 18, 19, 20],
  gpus: [21, 22],
}));

/** Recorded: names and NUMA nodes of the EFA devices. Composed: the bridges, and where the GPUs are. */
const p6b200 = [0x44, 0x55, 0x66, 0x79].map((bus, i) => ({
  bus,
  numaNode: i >> 1,
  efas: [11, 12],
  gpus: i === 2 ? [15, 16] : [13, 14], // the third has two other adapters before them
}));

const [gen3, gen5] = [8, 32];
const p6Others = {
  places: [13, 14].map((offset) => behindSwitch(p6b200[2]!, offset)),
  pcie: { gigatransfers: gen3, lanes: 4 },
};
const reads: readonly Capability[] = ['read', 'rnr', 'source'];
const writes: readonly Capability[] = [...reads, 'write'];
const hundred = { rateGbps: 100, rateName: '4X EDR', speed: 32, width: 2 };

/**
 * libfabric 1.17 knows speeds up to 25 Gbps a lane. At 200 Gbps the codes say eight such lanes, where hardware has
 * four of 50; at 400 Gbps there is no such code, and 1.17 reports no speed, as on hardware.
 */
export const machines: readonly Machine[] = [
  {
    id: 'p4d',
    instance: 'p4d.24xlarge',
    ...p4d,
    efa: {
      part: 0xefa0,
      ...hundred,
      capabilities: reads,
      pcie: { gigatransfers: gen3, lanes: 16 },
    },
    gpu: { device: 0x20b0, pcie: { gigatransfers: gen3, lanes: 16 } },
  },
  {
    id: 'p5',
    instance: 'p5.48xlarge',
    ...switched(p5),
    efa: {
      part: 0xefa1,
      ...hundred,
      capabilities: writes,
      pcie: { gigatransfers: gen3, lanes: 16 },
    },
    gpu: { device: 0x2330, pcie: { gigatransfers: gen5, lanes: 16 } },
  },
  {
    id: 'p5en',
    instance: 'p5en.48xlarge',
    ...switched(p5en),
    efa: {
      ...{ part: 0xefa2, rateGbps: 200, rateName: '4X HDR', speed: 32, width: 4 },
      capabilities,
      pcie: { gigatransfers: gen5, lanes: 8 },
    },
    gpu: { device: 0x2335, pcie: { gigatransfers: gen5, lanes: 16 } },
  },
  {
    id: 'p6-b200',
    instance: 'p6-b200.48xlarge',
    ...switched(p6b200),
    others: p6Others,
    efa: {
      ...{ part: 0xefa3, rateGbps: 400, rateName: '8X HDR', speed: 64, width: 4 },
      capabilities,
      pcie: { gigatransfers: gen5, lanes: 16 },
    },
    gpu: { device: 0x2901, pcie: { gigatransfers: gen5, lanes: 16 } },
  },
];

/** As udev names an EFA device: bus and slot in decimal. */
export function efaName({ pci }: Place): string {
  const [, bus = '', slot = ''] = pci.split(/[:.]/);
  return `rdmap${Number.parseInt(bus, 16)}s${Number.parseInt(slot, 16)}`;
}
