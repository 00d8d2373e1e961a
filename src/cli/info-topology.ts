import { groupBy } from '../measure/group.js';
import { formatBytesRounded } from '../measure/units.js';
import { formatList } from '../topology/cpu-set.js';
import { drawTopology, filled } from '../topology/draw.js';
import type { Gpu, GpuFacts, Topology } from '../topology/model.js';
import { assignNics, usableNics } from '../topology/nearest.js';
import { nicTable } from '../topology/nic-table.js';
import { pciAddress } from '../topology/pci-address.js';
import type { Terminal } from './output/terminal.js';

/** A machine as `info` shows it: its tree, and what the GPUs' driver says where it was asked. */
export interface MachineMap {
  readonly topology: Topology;
  readonly facts: readonly GpuFacts[];
}

const factsOf = ({ pci }: Gpu, { facts }: MachineMap): GpuFacts | undefined =>
  facts.find((one) => pciAddress(one.pci) === pci);

/** The GPUs in the words of `weft.info/1`. */
export function gpusJson(map: MachineMap) {
  const { topology } = map;
  return assignNics(topology, usableNics(topology).usable).map(({ gpu, nics, nearness }) => {
    const facts = factsOf(gpu, map);
    return {
      index: gpu.index,
      pci: gpu.pci,
      numaNode: gpu.numaNode ?? null,
      nics: nics.map(({ name }) => name),
      nearness: nearness.by,
      bridge: nearness.by === 'bridge' ? nearness.bridge.address : null,
      linkGbps: gpu.linkGbps ?? null,
      name: facts?.name ?? gpu.model ?? null,
      cuda: facts?.index ?? null,
      computeCapability: facts?.computeCapability ?? null,
      memoryBytes: facts?.memoryBytes ?? null,
      dmabuf: facts?.dmabuf ?? null,
      ipc: facts?.ipc ?? null,
      peers: facts?.peers ?? null,
    };
  });
}

/** The NICs that no GPU is given, with the reason. */
export const unusedJson = ({ topology }: MachineMap) =>
  usableNics(topology).skipped.map(({ name, reason, text }) => ({ nic: name, reason, text }));

/** The NICs of a file; a file knows no addresses and no loopback. */
export const nicsJson = ({ nics }: Topology) =>
  nics.map((nic) => ({
    name: nic.name,
    otherNames: nic.otherNames,
    kind: nic.rdma ? 'rdma' : 'ethernet',
    pci: nic.pci,
    numaNode: nic.numaNode ?? null,
    rateGbps: nic.rateGbps ?? null,
    linkGbps: nic.linkGbps ?? null,
    up: nic.up ?? null,
  }));

export const gpuLines = (map: MachineMap): string[] =>
  map.topology.gpus.map((gpu) => {
    const facts = factsOf(gpu, map);
    const place = gpu.numaNode === undefined ? 'NUMA ?' : `NUMA ${gpu.numaNode}`;
    const parts = [`${gpu.index}`, gpu.pci, place, facts?.name ?? gpu.model ?? 'model unknown'];
    return [...parts, ...(facts ? abilities(facts) : [])].join('  ');
  });

function abilities({ index, computeCapability, memoryBytes, dmabuf, ipc, peers }: GpuFacts) {
  const can = (able: boolean, what: string) => (able ? what : `no ${what}`);
  return [
    `CUDA ${index}`,
    `compute ${computeCapability}`,
    formatBytesRounded(memoryBytes),
    can(dmabuf, 'DMABUF'),
    can(ipc, 'IPC'),
    peers.length > 0 ? `peers ${formatList(peers)}` : 'no peers',
  ];
}

/** The drawing, and which NICs are whose. Nothing where there is nothing on the bus. */
export function mapText(
  { topology }: MachineMap,
  terminal: Pick<Terminal, 'width' | 'unicode'>,
): string {
  if (topology.gpus.length === 0 && topology.nics.length === 0) return '';
  const width = Math.min(100, terminal.width);
  const { usable, skipped } = usableNics(topology);
  const table = nicTable(assignNics(topology, usable), usable, { width });
  const rates =
    topology.ratesOf === undefined
      ? []
      : [`EFA rates are the published rates of ${topology.ratesOf}.`];
  const left = [...groupBy(skipped, ({ text }) => text)].flatMap(([text, alike]) => {
    const names = alike.map(({ name }) => name).join(', ');
    return filled(`not used: ${names} (${text})`.split(' '), width);
  });
  const drawing = drawTopology(topology, { width, unicode: terminal.unicode });
  return [drawing, table, [...rates, ...left]]
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}
