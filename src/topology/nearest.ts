import { groupBy } from '../measure/group.js';
import { plural } from '../measure/units.js';
import type { Bridge, Gpu, Topology, TreeNic, TreeNode } from './model.js';

export type Nearness =
  | { readonly by: 'bridge'; readonly bridge: Bridge }
  | { readonly by: 'numa'; readonly node: number }
  | { readonly by: 'machine' }
  | { readonly by: 'none' };

export interface GpuNics {
  readonly gpu: Gpu;
  /** In the order of their PCI addresses: rail k of this GPU is the k-th. Empty only when there is no NIC. */
  readonly nics: readonly TreeNic[];
  readonly nearness: Nearness;
}

/** NICs that could be rails: RDMA devices, or all NICs where no RDMA device is. */
export function railNics(topology: Pick<Topology, 'nics'>): TreeNic[] {
  const own = topology.nics.filter((nic) => !nic.shadow);
  const rdma = own.filter((nic) => nic.rdma);
  return rdma.length > 0 ? rdma : own;
}

export interface Skipped {
  readonly name: string;
  readonly reason: 'port-down' | 'not-offered' | 'other-kind';
  readonly text: string;
}

/**
 * Which of the rails are used: those of one technology and rate, since a transfer split over unequal NICs is as slow as
 * the slowest. `offered` are the names libfabric has for NICs, when it was asked. What is left out is told, not fatal.
 */
export function usableNics(
  topology: Pick<Topology, 'nics'>,
  offered?: readonly string[],
): { usable: TreeNic[]; skipped: Skipped[] } {
  const rails = railNics(topology);
  const isOffered = ({ name, otherNames }: TreeNic) =>
    offered === undefined || [name, ...otherNames].some((one) => offered.includes(one));
  const usable = fastestKind(rails.filter((nic) => nic.up !== false && isOffered(nic)));
  const left = rails.filter((nic) => !usable.includes(nic));
  return { usable, skipped: left.map((nic) => skippedFor(nic, usable, isOffered(nic))) };
}

function skippedFor(nic: TreeNic, usable: readonly TreeNic[], offered: boolean): Skipped {
  const { name } = nic;
  const [chosen] = usable;
  if (nic.up === false) return { name, reason: 'port-down', text: 'its port is down' };
  if (chosen === undefined || (!offered && nic.technology === chosen.technology)) {
    return { name, reason: 'not-offered', text: 'libfabric does not offer it' };
  }
  const others = describeKind(chosen, usable.length);
  const text = `${describeKind(nic)} is not mixed with the ${others}`;
  return { name, reason: 'other-kind', text };
}

/** `InfiniBand at 200 Gbps`, `8 EFA NICs at 400 Gbps`, `InfiniBand of unknown rate (link 31.5 Gbps)` */
function describeKind({ technology, rateGbps, linkGbps }: TreeNic, count?: number): string {
  const who = count === undefined ? technology : plural(count, `${technology} NIC`);
  if (rateGbps !== undefined) return `${who} at ${gbps(rateGbps)}`;
  return `${who} of unknown rate${linkGbps === undefined ? '' : ` (link ${gbps(linkGbps)})`}`;
}

export const gbps = (rate: number): string => `${Number(rate.toPrecision(3))} Gbps`;

/** The NICs of the technology and rate that carry most together; of several, the kind whose single NIC is fastest. */
function fastestKind(nics: readonly TreeNic[]): TreeNic[] {
  const rateOf = ({ rateGbps, linkGbps }: TreeNic) => rateGbps ?? linkGbps ?? 0;
  const totalOf = (kind: readonly TreeNic[]) => kind.reduce((sum, nic) => sum + rateOf(nic), 0);
  const kinds = [
    ...groupBy(nics, ({ technology, rateGbps }) => `${technology} ${rateGbps}`).values(),
  ];
  const byRate = (a: readonly TreeNic[], b: readonly TreeNic[]) =>
    totalOf(b) - totalOf(a) || rateOf(b[0]!) - rateOf(a[0]!) || b.length - a.length;
  return kinds.sort(byRate)[0] ?? [];
}

/**
 * The NICs of every GPU of the machine: those below the lowest bridge it shares with any, else those of its NUMA node,
 * else all. GPUs for which the same NICs are nearest share them evenly: each its own where there are enough, else
 * several GPUs one NIC. NICs that no nearer GPU has taken go first. Always over all GPUs, so that a job on some of
 * them gets what it would get in a job on all.
 */
export function assignNics(
  topology: Topology,
  nics: readonly TreeNic[] = usableNics(topology).usable,
): GpuNics[] {
  const found = new Map<Gpu, GpuNics>();
  const taken = new Set<TreeNic>();
  const share = (gpus: readonly Gpu[], near: readonly TreeNic[], nearness: Nearness) => {
    if (near.length === 0) return;
    const free = near.filter((nic) => !taken.has(nic));
    const shares = spread(free.length > 0 ? free : near, gpus.length);
    for (const [i, gpu] of gpus.entries()) found.set(gpu, { gpu, nics: shares[i]!, nearness });
    for (const nic of shares.flat()) taken.add(nic);
  };
  const waiting = (gpus: readonly Gpu[]) =>
    gpus.filter((gpu) => !found.has(gpu)).sort((a, b) => a.index - b.index);

  const descend = (nodes: readonly TreeNode[]): { gpus: Gpu[]; near: TreeNic[] } => {
    const below = nodes.map((node) => {
      if (node.kind !== 'bridge') {
        return { gpus: node.kind === 'gpu' ? [node] : [], near: nics.filter((n) => n === node) };
      }
      const inside = descend(node.children);
      share(waiting(inside.gpus), inside.near, { by: 'bridge', bridge: node });
      return inside;
    });
    const near = new Set(below.flatMap((one) => one.near));
    return {
      gpus: [...new Set(below.flatMap((one) => one.gpus))],
      near: nics.filter((nic) => near.has(nic)),
    };
  };
  descend(topology.roots);

  for (const { node } of topology.numaNodes) {
    const near = nics.filter((nic) => nic.numaNode === node);
    const here = waiting(topology.gpus).filter((gpu) => gpu.numaNode === node);
    share(here, near, { by: 'numa', node });
  }
  share(waiting(topology.gpus), nics, { by: 'machine' });
  return topology.gpus.map(
    (gpu) => found.get(gpu) ?? { gpu, nics: [], nearness: { by: 'none' } as const },
  );
}

/** Equal parts in order, which differ by one at most; where there are too few, neighbours share one. */
export function spread<T>(things: readonly T[], among: number): T[][] {
  return Array.from({ length: among }, (_, i) => {
    const start = Math.floor((i * things.length) / among);
    const end = Math.floor(((i + 1) * things.length) / among);
    return things.slice(start, Math.max(start + 1, end));
  });
}
