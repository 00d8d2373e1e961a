import { type DrawOptions, filled } from './draw.js';
import type { TreeNic } from './model.js';
import type { GpuNics, Nearness } from './nearest.js';

/** Which NICs are nearest which GPU, and why, as a table. `rails` are the NICs that were shared out. */
export function nicTable(
  assigned: readonly GpuNics[],
  rails: readonly TreeNic[],
  { width = 80 }: DrawOptions = {},
): string[] {
  if (assigned.length === 0) return [];
  const pciWidth = Math.max(...assigned.map(({ gpu }) => gpu.pci.length), 'PCI address'.length);
  const rows = assigned.map(({ gpu, nics, nearness }) => ({
    head: headOf(String(gpu.index), gpu.pci.padEnd(pciWidth), String(gpu.numaNode ?? '-')),
    names: nics.map(({ name }) => name),
    why: describeNearness(nearness),
  }));
  const title = headOf('GPU', 'PCI address'.padEnd(pciWidth), 'NUMA');
  const whyWidth = Math.max(...rows.map(({ why }) => why.length), inCommon.length);
  const nicsWidth = Math.max(16, width - title.length - whyWidth - 4);
  const lines = rows.flatMap(({ head, names, why }) =>
    filled(names.length > 0 ? names : ['none'], nicsWidth).map((line, i) => {
      const before = i === 0 ? head : ' '.repeat(head.length);
      return `${before}  ${(i === 0 ? why : '').padEnd(whyWidth)}  ${line}`.trimEnd();
    }),
  );
  const used = new Set(assigned.flatMap(({ nics }) => nics));
  const unused = rails.filter((nic) => !used.has(nic)).map(({ name }) => name);
  const rest =
    unused.length === 0 ? [] : filled(['near no GPU:', ...unused.join(', ').split(' ')], width);
  return [`${title}  ${inCommon.padEnd(whyWidth)}  NICs`, ...lines, ...rest];
}

const inCommon = 'in common';

const headOf = (gpu: string, pci: string, numa: string): string =>
  `${gpu.padStart(3)} ${pci} ${numa.padStart(4)}`;

function describeNearness(nearness: Nearness): string {
  switch (nearness.by) {
    case 'bridge':
      return `${nearness.bridge.host ? 'host ' : ''}${nearness.bridge.address}`;
    case 'numa':
      return `NUMA node ${nearness.node}`;
    case 'machine':
      return 'the machine';
    case 'none':
      return '-';
  }
}
