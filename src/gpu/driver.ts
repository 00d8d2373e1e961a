import { isWeftError, type WeftError } from '../errors.js';
import { addon } from '../native/addon.js';
import { callingGpu } from './faults.js';

/** CUDA's driver, opened. */
export interface CudaDriver {
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
export function loadDriver(): CudaDriver {
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

export function tryDriver(): { driver: CudaDriver } | { reason: WeftError } {
  try {
    return { driver: loadDriver() };
  } catch (error) {
    if (isWeftError(error)) return { reason: error };
    throw error;
  }
}
