export { type ErrorCode, errorCodes, isWeftError, WeftError } from './errors.js';
export type { Channel, OperationOptions, WriteOptions } from './fabric/channel.js';
export { Fabric, type FabricChannelInfo, type FabricOptions, openFabric } from './fabric/fabric.js';
export type {
  FabricBuffer,
  RegionDescription,
  RemoteRegion,
  RemoteSlice,
} from './fabric/region.js';
export { DeviceBuffer, Dmabuf } from './gpu/device-buffer.js';
export {
  Gpu,
  type GpuAvailability,
  type GpuDescription,
  gpuAvailability,
  listGpus,
  openGpu,
} from './gpu/gpu.js';
export { Kernel, type KernelArgument, type LaunchOptions, type LaunchShape } from './gpu/kernel.js';
export {
  type CopyPart,
  gatherParts,
  type KernelBuffer,
  prepareCopy,
  prepareSums,
  type RowDtype,
  type RowSums,
  scatterParts,
  TokenKernel,
} from './gpu/tokens.js';
export { HostBuffer, type MemoryKind, type Mismatch, type Slice } from './memory/buffer.js';
export {
  type ServeTransfersOptions,
  serveTransfers,
  type Transfer,
  TransferService,
} from './shmem/serve-transfers.js';
export { openShmem, Shmem, type ShmemOptions, type WaitOptions } from './shmem/shmem.js';
export type { NumberArray, NumberArrayType, PutRange, Symmetric } from './shmem/symmetric.js';
export { connectFabric, exchangeRegions } from './world/connect-fabric.js';
export {
  describeExit,
  type Identity,
  identify,
  type LocalJob,
  type OpenWorldOptions,
  type Outcome,
  openWorld,
  type SpawnOptions,
  spawnRanks,
  type World,
} from './world/index.js';
