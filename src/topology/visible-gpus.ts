import type { Topology } from './model.js';

/**
 * PCI addresses of the GPUs that CUDA_VISIBLE_DEVICES leaves to a process, in CUDA's order, as far as it can be known
 * without asking CUDA: GPUs of one kind are numbered by their addresses. A list ends where it names none, as CUDA
 * reads it; names (`GPU-…`, `MIG-…`) cannot be told apart here and leave all.
 */
export function visibleGpus(
  { gpus }: Pick<Topology, 'gpus'>,
  env: Readonly<Record<string, string | undefined>>,
): string[] {
  const all = gpus.map(({ pci }) => pci);
  const list = env.CUDA_VISIBLE_DEVICES;
  if (list === undefined || /^\s*(?:GPU|MIG)-/.test(list)) return all;
  const visible: string[] = [];
  for (const part of list.split(',')) {
    const address = /^\s*\d+\s*$/.test(part) ? all[Number(part)] : undefined;
    if (address === undefined) break;
    visible.push(address);
  }
  return visible;
}
