import type { FoundBridge } from './found.js';

export interface NumaNode {
  readonly node: number;
  /** Threads of one core stand next to each other; empty for memory without cores. */
  readonly cores: readonly number[];
}

/** A host bridge (a root of the tree), a bridge, or a port of a switch. */
export interface Bridge extends Omit<FoundBridge, 'children'> {
  readonly kind: 'bridge';
  readonly children: readonly TreeNode[];
}

/** What only CUDA's driver tells of a GPU. */
export interface GpuFacts {
  /** CUDA's number for it in this process, which `--gpu` takes. */
  readonly index: number;
  readonly pci: string;
  readonly name: string;
  /** `9.0` */
  readonly computeCapability: string;
  readonly memoryBytes: number;
  /** Its memory can be exported as a DMABUF. */
  readonly dmabuf: boolean;
  /** Its memory can be opened by another process. */
  readonly ipc: boolean;
  /** CUDA's numbers of the GPUs it can read and write directly. */
  readonly peers: readonly number[];
}

export interface Gpu {
  readonly kind: 'gpu';
  /** Its place among the GPUs by PCI address. CUDA may count in another order. */
  readonly index: number;
  readonly pci: string;
  readonly numaNode: number | undefined;
  /** What its PCIe link carries in one direction. */
  readonly linkGbps: number | undefined;
  readonly model: string | undefined;
}

export interface TreeNic {
  readonly kind: 'nic';
  /** Of the RDMA device where it is one, else of the interface, else its PCI address. */
  readonly name: string;
  /** Other names the system has for it, such as the interface of an RDMA device. */
  readonly otherNames: readonly string[];
  readonly rdma: boolean;
  /** As its makers call it. */
  readonly technology: 'EFA' | 'InfiniBand' | 'Slingshot' | 'RDMA' | 'Ethernet';
  readonly pci: string;
  readonly numaNode: number | undefined;
  /** Undefined where nobody says, never 0. */
  readonly rateGbps: number | undefined;
  readonly linkGbps: number | undefined;
  /** Undefined where the source does not tell. */
  readonly up: boolean | undefined;
  /** A virtual function of a card whose own NIC is here too: the same port again, never a rail. */
  readonly shadow: boolean;
}

export interface OtherDevice {
  readonly kind: 'other';
  readonly pci: string;
  readonly what: string;
}

export type TreeNode = Bridge | Gpu | TreeNic | OtherDevice;

/** The PCIe tree of one machine. GPUs and NICs are in the order of their PCI addresses. */
export interface Topology {
  readonly numaNodes: readonly NumaNode[];
  /** Host bridges, and devices that hang below none. */
  readonly roots: readonly TreeNode[];
  readonly gpus: readonly Gpu[];
  readonly nics: readonly TreeNic[];
  /** Rates that nobody told are those published for this kind of machine. */
  readonly ratesOf?: string;
}

/** No machine nests bridges this deeply; what does is no description of one. */
export const deepestTree = 256;
