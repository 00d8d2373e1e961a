import { isWeftError, WeftError } from '../errors.js';
import { addon } from '../native/addon.js';
import type { NativeGpu } from '../native/memory.js';
import { pciAddress } from '../topology/pci-address.js';
import { DeviceBuffer } from './device-buffer.js';
import { callingGpu } from './faults.js';
import { Kernel } from './kernel.js';

/** A GPU of this machine, as its driver describes it. */
export interface GpuDescription extends Omit<NativeGpu, 'capabilityMajor' | 'capabilityMinor'> {
  /** 9.0 for Hopper. */
  readonly computeCapability: string;
  readonly driverVersion: string;
}

/** Whether this process can use GPUs, and if not, why. */
export type GpuAvailability =
  | { readonly gpus: readonly GpuDescription[]; readonly driver: CudaDriver }
  | { readonly gpus: readonly []; readonly reason: WeftError };

/** The GPUs, or the reason why there are none. Throws nothing that a machine without a GPU could cause. */
export function gpuAvailability(): GpuAvailability {
  const opened = tryDriver();
  if ('reason' in opened) return { gpus: [], reason: opened.reason };
  const { driver } = opened;
  if (driver.gpus > 0) return { gpus: listGpus(), driver };
  const reason = new WeftError('NO_GPU', 'the CUDA driver finds no GPU', {
    hint: 'Does `nvidia-smi` list one? Is CUDA_VISIBLE_DEVICES empty?',
  });
  return { gpus: [], reason };
}

/** Every GPU that CUDA shows this process. Throws NO_GPU or GPU_DRIVER_TOO_OLD where there is no driver. */
export function listGpus(): GpuDescription[] {
  const driver = loadDriver();
  return Array.from({ length: driver.gpus }, (_, index) =>
    gpuDescription(
      callingGpu(() => addon().describeGpu(index)),
      driver.version,
    ),
  );
}

function gpuDescription(native: NativeGpu, driverVersion: string): GpuDescription {
  const { capabilityMajor, capabilityMinor, pci, ...rest } = native;
  return {
    ...rest,
    pci: pci.toLowerCase(),
    computeCapability: `${capabilityMajor}.${capabilityMinor}`,
    driverVersion,
  };
}

/** A GPU in use by this process: its context exists until the process ends. */
export class Gpu {
  readonly description: GpuDescription;

  constructor(description: GpuDescription) {
    this.description = description;
    callingGpu(() => addon().retainGpu(description.index));
  }

  get index(): number {
    return this.description.index;
  }

  /** Zeroed memory on this GPU. Who allocates closes. */
  allocate(bytes: number): DeviceBuffer {
    return new DeviceBuffer(this.index, bytes);
  }

  /** A kernel of PTX text, by its name there: `extern "C"` keeps names as they are written. Stays loaded. */
  loadKernel(ptx: string, name: string): Kernel {
    return new Kernel(this.index, ptx, name);
  }

  freeBytes(): number {
    return callingGpu(() => addon().freeGpuBytes(this.index));
  }
}

/** Opens a GPU by its index or its PCI address (with or without the domain). */
export function openGpu(which: number | string = 0): Gpu {
  const availability = gpuAvailability();
  if ('reason' in availability) throw availability.reason;
  const { gpus } = availability;
  const wanted = typeof which === 'string' ? normalisePci(which) : undefined;
  const found = gpus.find(({ index, pci }) =>
    wanted === undefined ? index === which : pci === wanted,
  );
  if (found) return new Gpu(found);
  const there = gpus.map(({ index, pci }) => `${index} (${pci})`).join(', ');
  throw new WeftError('NO_GPU', `there is no GPU ${which}`, {
    hint: `The GPUs here are ${there}.`,
  });
}

export function normalisePci(address: string): string {
  const pci = pciAddress(address);
  if (pci !== undefined) return pci;
  throw new WeftError('BAD_USAGE', `"${address}" is not a GPU index or PCI address`, {
    hint: 'Write 0, or 0000:19:00.0 as `weft info` shows it.',
  });
}

/** CUDA's driver, opened. */
interface CudaDriver {
  readonly path: string;
  /** The newest CUDA it serves, as people write it: 13.0 */
  readonly version: string;
  readonly gpus: number;
}

let driver: CudaDriver | undefined;
/** A driver that would not start is not asked again: it may take a second to say no. */
let refused: unknown;

/** WEFT_LIBCUDA alone if set, else the system's. */
const driverPath = (env: NodeJS.ProcessEnv = process.env): string =>
  env.WEFT_LIBCUDA || 'libcuda.so.1';

export const driverVersionText = (version: number): string =>
  `${Math.floor(version / 1000)}.${Math.floor((version % 1000) / 10)}`;

/** Opens the driver once for this process; throws NO_GPU or GPU_DRIVER_TOO_OLD. No context is made. */
function loadDriver(): CudaDriver {
  if (driver) return driver;
  if (refused) throw refused;
  try {
    const { path, version, devices } = callingGpu(() => addon().openCuda(driverPath()));
    driver = { path, version: driverVersionText(version), gpus: devices };
    return driver;
  } catch (error) {
    refused = error;
    throw error;
  }
}

function tryDriver(): { driver: CudaDriver } | { reason: WeftError } {
  try {
    return { driver: loadDriver() };
  } catch (error) {
    if (isWeftError(error)) return { reason: error };
    throw error;
  }
}
