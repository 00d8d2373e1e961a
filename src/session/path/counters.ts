import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Carried } from '../../analysis/path/observation.js';
import { list, read, sysfsRoot } from '../../topology/sysfs-files.js';

/** Counters by name; those that a device does not have are absent. */
type Counters = Readonly<Record<string, number>>;
/** Of every NIC of this host, by its name. */
export type Reading = ReadonlyMap<string, Counters>;

/** As the drivers of EFA and of mlx5 name them. */
const hardwareNames = [
  ...['tx_bytes', 'rx_bytes', 'send_bytes', 'recv_bytes', 'rdma_write_bytes'],
  ...['rdma_write_recv_bytes', 'rdma_read_bytes', 'rdma_read_resp_bytes'],
  ...['retrans_pkts', 'rx_drops', 'packet_seq_err', 'local_ack_timeout_err', 'out_of_buffer'],
];
/** As InfiniBand names them: data in words of 4 bytes. */
const portNames = ['port_xmit_data', 'port_rcv_data', 'port_xmit_discards', 'port_rcv_errors'];
const wordBytes = 4;
/** Old adapters stop counting here. */
const fullCounter = 2 ** 32 - 1;

interface RdmaDevice {
  readonly name: string;
  /** Path and name of each counter it has. */
  readonly files: readonly (readonly [path: string, name: string])[];
}

/**
 * The counters of all NICs of this host: RDMA devices in sysfs, network interfaces in /proc/net/dev, which has all of
 * this network namespace in one file.
 */
export class HostCounters {
  readonly #devices: readonly RdmaDevice[];
  readonly #sysfs: string;
  /** For how long the kernel hands out the same values of an RDMA device; 0 without any. */
  readonly #lifespanMs: number;
  /** Interfaces that carry an RDMA device: they may count its bytes once more. */
  readonly carriers: ReadonlySet<string>;

  constructor(sysfs = sysfsRoot()) {
    this.#sysfs = sysfs;
    const names = list(`${sysfs}/class/infiniband`);
    const portsOf = (name: string) => {
      const folder = `${sysfs}/class/infiniband/${name}/ports`;
      return list(folder).map((port) => `${folder}/${port}`);
    };
    const files = (folder: string, known: readonly string[]) =>
      known
        .map((name) => [`${folder}/${name}`, name] as const)
        .filter(([path]) => existsSync(path));
    this.#devices = names.map((name) => ({
      name,
      files: portsOf(name).flatMap((port) => [
        ...files(`${port}/hw_counters`, hardwareNames),
        ...files(`${port}/counters`, portNames),
      ]),
    }));
    const lifespans = names
      .flatMap(portsOf)
      .map((port) => Number(read(`${port}/hw_counters/lifespan`) ?? 0));
    this.#lifespanMs = Math.max(0, ...lifespans.filter((ms) => Number.isFinite(ms)));
    this.carriers = new Set(
      names.flatMap((name) => list(`${sysfs}/class/infiniband/${name}/device/net`)),
    );
  }

  read(): Reading {
    const rdma = this.#devices.map(({ name, files }) => {
      const sums: Record<string, number> = {};
      for (const [path, counter] of files) {
        const value = Number.parseInt(read(path) ?? '', 10);
        if (Number.isFinite(value)) sums[counter] = (sums[counter] ?? 0) + value;
      }
      return [name, sums] as const;
    });
    return new Map([...parseInterfaces(readFileSync('/proc/net/dev', 'utf8')), ...rdma]);
  }

  /** As `read`, when the kernel can no longer hand out values from before this call. */
  async readFresh(): Promise<Reading> {
    if (this.#lifespanMs > 0) await sleep(this.#lifespanMs + 1);
    return this.read();
  }

  mtuOf(nic: string): number | undefined {
    const mtu = Number(read(`${this.#sysfs}/class/net/${nic}/mtu`));
    return mtu > 0 ? mtu : undefined;
  }
}

/** /proc/net/dev: two lines of heads, then for each interface 8 numbers of what it received and 8 of what it sent. */
export function parseInterfaces(text: string): Map<string, Counters> {
  const lines = text
    .split('\n')
    .slice(2)
    .filter((line) => line.includes(':'));
  return new Map(
    lines.map((line) => {
      const colon = line.lastIndexOf(':');
      const numbers = line
        .slice(colon + 1)
        .trim()
        .split(/\s+/)
        .map(Number);
      const [rx, , , rxDropped, , , , , tx, , , txDropped] = numbers;
      const drops = rxDropped! + txDropped!;
      return [line.slice(0, colon).trim(), { tx_bytes: tx!, rx_bytes: rx!, drops }];
    }),
  );
}

/** What a NIC's counters gained; undefined where they do not tell, stand still at their end, or were set back. */
export function carriedBetween(before: Counters, after: Counters): Carried | undefined {
  const gained = (name: string): number | undefined => {
    const [from, to] = [before[name], after[name]];
    return from === undefined || to === undefined || to < from ? undefined : to - from;
  };
  const sum = (...names: string[]): number | undefined => {
    const known = names.map(gained).filter((value) => value !== undefined);
    return known.length === 0 ? undefined : known.reduce((total, value) => total + value, 0);
  };
  const words = (name: string): number | undefined =>
    portCounts(after) ? (gained(name) ?? Number.NaN) * wordBytes : undefined;
  // Whether the totals of a device hold RDMA too is not documented: the larger of total and sum of parts does.
  const txBytes = most(
    gained('tx_bytes'),
    sum('send_bytes', 'rdma_write_bytes', 'rdma_read_resp_bytes'),
    words('port_xmit_data'),
  );
  const rxBytes = most(
    gained('rx_bytes'),
    sum('recv_bytes', 'rdma_write_recv_bytes', 'rdma_read_bytes'),
    words('port_rcv_data'),
  );
  if (txBytes === undefined || rxBytes === undefined) return undefined;
  const rdmaWriteBytes = gained('rdma_write_bytes');
  const retransmits = sum('retrans_pkts', 'packet_seq_err', 'local_ack_timeout_err');
  const drops = sum('drops', 'rx_drops', 'out_of_buffer', 'port_xmit_discards');
  return {
    txBytes,
    rxBytes,
    ...(rdmaWriteBytes !== undefined && { rdmaWriteBytes }),
    ...(retransmits !== undefined && { retransmits }),
    ...(drops !== undefined && { drops }),
  };
}

/** Virtual functions may have port counters that never move; real ports count management packets at least. */
function portCounts({ port_xmit_data: tx = 0, port_rcv_data: rx = 0 }: Counters): boolean {
  return tx + rx > 0 && tx !== fullCounter && rx !== fullCounter;
}

function most(...values: (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined && Number.isFinite(value)) as number[];
  return known.length === 0 ? undefined : Math.max(...known);
}

/** Two stretches as one. */
export function addCarried(a: Carried | undefined, b: Carried): Carried {
  if (!a) return b;
  const sum = (key: 'rdmaWriteBytes' | 'retransmits' | 'drops') =>
    a[key] === undefined || b[key] === undefined ? {} : { [key]: a[key] + b[key] };
  return {
    txBytes: a.txBytes + b.txBytes,
    rxBytes: a.rxBytes + b.rxBytes,
    ...sum('rdmaWriteBytes'),
    ...sum('retransmits'),
    ...sum('drops'),
  };
}
