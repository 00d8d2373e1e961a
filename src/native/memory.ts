import type { NativeTask } from './tasks.js';

/** The first byte that is not what it should be, and how many there are. */
export interface Mismatch {
  /** Bytes that differ; 0 means that all is well and the other fields mean nothing. */
  readonly wrong: number;
  /** From the start of the slice. */
  readonly offset: number;
  readonly expected: number;
  readonly found: number;
}

/** Pages that are being locked and touched. */
export interface NativePreparing extends NativeTask<void> {
  /** How many bytes are ready. */
  prepared(): number;
}

/** Host memory outside the JavaScript heap. Seeds and positions are whole numbers below 2^53. */
export interface NativeMemory {
  readonly address: bigint;
  /** Once, before anything else, of memory that was made to be prepared later. */
  prepare(): NativePreparing;
  view(offset: number, bytes: number): ArrayBuffer;
  fill(offset: number, bytes: number, seed: number, position: number): Promise<Mismatch>;
  verify(offset: number, bytes: number, seed: number, position: number): Promise<Mismatch>;
  /** With CUDA, for every GPU of the process. Pinned memory made while a GPU is in use is so from the start. */
  registerWithGpu(device: number): void;
  readonly gpuRegistered: boolean;
  /** Of the start of the memory, as kernels use it; undefined unless it is registered. */
  readonly gpuAddress: bigint | undefined;
  close(): void;
}

/** GPU memory, zeroed. Work on it runs on a stream of its own, from pool threads. */
export interface NativeDeviceMemory {
  /** On the device. */
  readonly pointer: bigint;
  /** Bytes that were allocated: whole blocks. */
  readonly allocated: number;
  fill(offset: number, bytes: number, seed: number, position: number): Promise<void>;
  verify(offset: number, bytes: number, seed: number, position: number): Promise<Mismatch>;
  set(offset: number, bytes: number, value: number): Promise<void>;
  copyToHost(offset: number, bytes: number, to: NativeMemory, toOffset: number): Promise<void>;
  copyFromHost(
    offset: number,
    bytes: number,
    from: NativeMemory,
    fromOffset: number,
  ): Promise<void>;
  /** A file descriptor of all that was allocated; the caller closes it. */
  exportDmabuf(): number;
  /** 64 bytes that another process of this host opens the memory with. */
  ipcHandle(): Uint8Array;
  /** Milliseconds of one repeat; see native/gpu/gpu-timing.h. With 0 blocks a multiprocessor, the usual shape. */
  time(
    work: GpuWork,
    bytes: number,
    repeats: number,
    blocks: number,
    threads: number,
    host?: NativeMemory,
  ): Promise<number>;
  close(): void;
}

type GpuWork = 'set' | 'fill' | 'read' | 'verify' | 'copyToHost' | 'copyToDevice' | 'copyOnDevice';

/** Memory that plans can move. */
export type NativeSpan = NativeMemory | NativeDeviceMemory;

/** What a kernel of kernels/tokens.cu does; see native/gpu/token-layout.h. */
export type NativeTokenWork =
  /** From offset, to offset, bytes; one after the other. */
  | { readonly parts: Float64Array }
  | {
      readonly dtype: string;
      readonly elements: number;
      readonly addends: number;
      readonly index: Int32Array;
      readonly weights: Float32Array;
    };

/** The work with its lists in GPU memory, and a stream of its own. */
export interface NativeTokenKernel {
  /** Milliseconds of one repeat; 0 repeats run it once and resolve with 0. */
  time(to: NativeSpan, from: NativeSpan, repeats: number): Promise<number>;
  close(): void;
}

/** A GPU as its driver describes it, without a context on it. */
export interface NativeGpu {
  /** CUDA's number: CUDA_VISIBLE_DEVICES decides what it counts. */
  readonly index: number;
  readonly name: string;
  /** As sysfs writes it: 0000:19:00.0 */
  readonly pci: string;
  readonly memoryBytes: number;
  readonly capabilityMajor: number;
  readonly capabilityMinor: number;
  readonly multiprocessors: number;
  readonly l2CacheBytes: number;
  readonly copyEngines: number;
  readonly unifiedAddressing: boolean;
  /** Its memory can be handed to a NIC as a DMABUF. */
  readonly dmabuf: boolean;
  /** Its memory can be opened by another process of this host. */
  readonly ipc: boolean;
  readonly gpuDirectRdma: boolean;
  /** Atomics of the GPU on host memory are atomic for the CPU too. */
  readonly hostNativeAtomics: boolean;
  /** Indices of the GPUs whose memory this one can reach by itself. */
  readonly peers: readonly number[];
}
