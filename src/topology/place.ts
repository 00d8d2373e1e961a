import { WeftError } from '../errors.js';
import type { Gpu, Topology, TreeNic } from './model.js';
import { assignNics, usableNics } from './nearest.js';
import { pciAddress } from './pci-address.js';

export interface PlaceOptions {
  readonly topology: Topology;
  readonly localRanks: number;
  /** PCI addresses of the GPUs the ranks take, in turn; default: all, in the order of their addresses. */
  readonly gpus?: readonly string[];
  /** Names libfabric has for NICs; what it does not offer is left out. */
  readonly offered?: readonly string[];
  /** Cores this process may use; others are left out. */
  readonly allowedCores?: readonly number[];
}

export interface Placement {
  readonly gpu: Gpu | undefined;
  /** The k-th is its rail k. */
  readonly nics: readonly string[];
  readonly numaNode: number | undefined;
  /** Its own share of its node's cores; undefined when no node is known or there are not enough. */
  readonly cores: readonly number[] | undefined;
}

/**
 * GPUs, NICs and cores by local rank. More ranks than GPUs go round: they share a GPU and its NICs, but not cores.
 */
export function placeRanks(options: PlaceOptions): Placement[] {
  const { topology, localRanks, allowedCores } = options;
  const { usable } = usableNics(topology, options.offered);
  const nicsOf = new Map(assignNics(topology, usable).map(({ gpu, nics }) => [gpu, nics]));
  const gpus = chosenGpus(topology, options.gpus);
  const places = Array.from({ length: localRanks }, (_, rank) => {
    const gpu = gpus[rank % gpus.length];
    const nics = gpu ? nicsOf.get(gpu)! : usable;
    return { gpu, nics, numaNode: nodeOf(gpu, nics) };
  });
  const cores = shareNodes(places, topology, allowedCores);
  return places.map(({ gpu, nics, numaNode }, rank) => ({
    gpu,
    nics: nics.map(({ name }) => name),
    numaNode,
    cores: cores?.[rank],
  }));
}

function chosenGpus({ gpus }: Topology, wanted: readonly string[] | undefined): Gpu[] {
  if (wanted === undefined) return [...gpus];
  return wanted.map((address) => {
    const gpu = gpus.find(({ pci }) => pci === pciAddress(address));
    if (gpu) return gpu;
    throw new WeftError('BAD_USAGE', `there is no GPU at ${address}`, {
      hint:
        gpus.length > 0
          ? `GPUs are at ${gpus.map(({ pci }) => pci).join(', ')}.`
          : 'This machine has no GPU.',
    });
  });
}

/** The GPU's, where it is known; else that of the NICs, if they agree. */
function nodeOf(gpu: Gpu | undefined, nics: readonly TreeNic[]): number | undefined {
  if (gpu?.numaNode !== undefined) return gpu.numaNode;
  const nodes = new Set(nics.map((nic) => nic.numaNode));
  return nodes.size === 1 ? [...nodes][0] : undefined;
}

/** Equal shares of a node's cores for the ranks on it; nothing at all unless every rank can have one. */
function shareNodes(
  places: readonly { numaNode: number | undefined }[],
  { numaNodes }: Topology,
  allowed: readonly number[] | undefined,
): number[][] | undefined {
  const shares: number[][] = [];
  for (const [rank, { numaNode }] of places.entries()) {
    const cores = numaNodes.find(({ node }) => node === numaNode)?.cores ?? [];
    const mine = cores.filter((core) => allowed?.includes(core) ?? true);
    const here = [...places.keys()].filter((one) => places[one]!.numaNode === numaNode);
    const share = shareCores(mine, here.length)?.[here.indexOf(rank)];
    if (numaNode === undefined || share === undefined) return undefined;
    shares.push(share.sort((a, b) => a - b));
  }
  return shares;
}

/** Equal shares of the cores, one after the other; undefined when there are fewer cores than ranks. */
export function shareCores(cores: readonly number[], ranks: number): number[][] | undefined {
  const share = Math.floor(cores.length / ranks);
  if (share === 0) return undefined;
  return Array.from({ length: ranks }, (_, rank) => cores.slice(rank * share, (rank + 1) * share));
}
