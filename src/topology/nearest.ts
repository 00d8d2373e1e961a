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
  readonly reason: 'port-down' | 'not-offered';
  readonly text: string;
}

/**
 * Which of the rails can be used. `offered` are the names libfabric has for NICs, when it was asked. What cannot be
 * opened is told, not fatal.
 */
export function usableNics(
  topology: Pick<Topology, 'nics'>,
  offered?: readonly string[],
): { usable: TreeNic[]; skipped: Skipped[] } {
  const usable: TreeNic[] = [];
  const skipped: Skipped[] = [];
  for (const nic of railNics(topology)) {
    const names = [nic.name, ...nic.otherNames];
    const skip = (reason: Skipped['reason'], text: string) =>
      skipped.push({ name: nic.name, reason, text });
    if (nic.up === false) skip('port-down', 'its port is down');
    else if (offered !== undefined && !names.some((name) => offered.includes(name)))
      skip('not-offered', 'libfabric does not offer it');
    else usable.push(nic);
  }
  return { usable, skipped };
}

/**
 * The NICs of every GPU of the machine: those below the lowest bridge it shares with any, else those of its NUMA node,
 * else all. GPUs for which the same NICs are nearest share them evenly: each its own where there are enough, else
 * several GPUs one NIC. NICs that no nearer GPU has taken go first. Always over all GPUs, so that a job on some of
 * them gets what it would get in a job on all.
 */
export function assignNics(
  topology: Topology,
  nics: readonly TreeNic[] = railNics(topology),
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
