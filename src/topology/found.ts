/** What a reader of sysfs or of an hwloc file has found, before anyone says what it is. */
export interface FoundDevice {
  readonly pci: string;
  /** Class and subclass: 0x0302 is a 3D controller. */
  readonly classCode: number;
  readonly vendor: number;
  readonly device: number;
  readonly numaNode: number | undefined;
  readonly linkGbps: number | undefined;
  /** What the system made of the device. */
  readonly ports: readonly FoundPort[];
  /** The source knows that it is a GPU for computing, whatever its class. */
  readonly computes: boolean;
  readonly gpuModel?: string;
  /** A virtual function: of this device, or of one the source does not name. */
  readonly virtualOf?: string | 'unknown';
}

export interface FoundPort {
  readonly name: string;
  readonly kind: 'rdma' | 'network';
  readonly rateGbps?: number | undefined;
  readonly up?: boolean | undefined;
}

export interface FoundBridge {
  /** The PCI address; of a host bridge the domain and bus it begins with, as `0000:44`. */
  readonly address: string;
  readonly host: boolean;
  readonly numaNode: number | undefined;
  readonly linkGbps: number | undefined;
  readonly children: readonly Found[];
}

export type Found = FoundBridge | FoundDevice;

export const isBridge = (found: Found): found is FoundBridge => 'children' in found;
