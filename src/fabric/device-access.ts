import { isWeftError } from '../errors.js';
import type { Gpu } from '../gpu/gpu.js';
import { type DevicePath, devicePaths } from './device-path.js';
import { Fabric } from './fabric.js';
import { loadLibrary } from './library.js';
import { type OfferOptions, providerName } from './providers.js';

/** How a fabric reaches a GPU's memory, or why it does not. */
export type DeviceAccess = { readonly path: DevicePath } | { readonly reason: string };

/** Large enough to be an allocation of its own, as DMABUF and IPC handles want it. */
const probeBytes = 2 * 2 ** 20;

/**
 * Finds out by registering a little of the GPU's memory on endpoints of its own, which it closes again. Endpoints for
 * GPU memory are opened only where that works: they do without injection, which host memory alone need not.
 */
export async function findDeviceAccess(options: OfferOptions, gpu: Gpu): Promise<DeviceAccess> {
  const library = loadLibrary();
  const provider = providerName(options.provider, library);
  const { dmabuf } = gpu.description;
  let fabric: Fabric | undefined;
  try {
    fabric = openForDevice(options);
    const found = devicePaths({ provider, library, caps: fabric?.caps, dmabuf });
    if (!fabric || found.paths.length === 0)
      return { reason: 'reason' in found ? found.reason : '' };
    return tryPaths(fabric, gpu, found.paths);
  } finally {
    await fabric?.close();
  }
}

/** Undefined where the provider offers nothing for GPU memory. */
function openForDevice(options: OfferOptions): Fabric | undefined {
  try {
    return new Fabric({ ...options, deviceMemory: true });
  } catch (error) {
    if (isWeftError(error, 'NO_PROVIDER')) return undefined;
    throw error;
  }
}

function tryPaths(fabric: Fabric, gpu: Gpu, paths: readonly DevicePath[]): DeviceAccess {
  const refusals: string[] = [];
  for (const path of paths) {
    try {
      fabric.allocateDevice(probeBytes, gpu, path).close();
      return { path };
    } catch (error) {
      if (!isWeftError(error, 'FABRIC_FAULT') && !isWeftError(error, 'UNSUPPORTED')) throw error;
      refusals.push(error.message);
    }
  }
  const { provider, library } = fabric;
  const said = [...new Set(refusals)].join('; ');
  return { reason: `${provider} in libfabric ${library.version} refused GPU memory (${said})` };
}
