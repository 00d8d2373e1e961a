import type { NativeInfo, NativePort, NativeQuery } from './fabric.js';
import { loadAddon } from './load.js';
import type {
  Mismatch,
  NativeDeviceMemory,
  NativeGpu,
  NativeMemory,
  NativeTokenKernel,
  NativeTokenWork,
} from './memory.js';
import type { NativePeer } from './peer.js';
import type {
  NativeOwnKernel,
  NativePeerMemory,
  NativeQueueJob,
  NativeQueueResult,
  NativeSharedMemory,
  NativeTask,
  NativeTransferBoard,
} from './tasks.js';

export interface NativeFault extends Error {
  readonly operation: string;
  readonly code: number;
  readonly text: string;
}

interface Addon {
  /** A shim of native/peers/, or NCCL's own library; CUDA's driver must then be open. */
  readonly Peer: new (
    path: string,
    kind: 'shim' | 'nccl',
  ) => NativePeer;
  /**
   * Running numbers in blocks of a buffer (offset, bytes, first number; one after the other): type 0 float32,
   * 1 int32, 2 int64; task 0 writes them, 1 writes their complements, 2 compares. Resolves with four numbers a
   * block: wrong bytes, then offset, expected and found of the first.
   */
  sequence(
    memory: NativeMemory,
    type: number,
    task: number,
    blocks: Float64Array,
  ): Promise<Float64Array>;
  /**
   * Small whole numbers in parts of a buffer, or sums of them (offset, bytes, how many addends; then seed, position and
   * weight of each): writes or compares them. Types are numbered as `sumDtypes` lists them. Numbers are 1 …
   * `largest` or −1 … −`largest`; of each `sparsity` elements, all but one are 0. The mismatch's offset is the buffer's.
   */
  numbers(
    memory: NativeMemory,
    type: number,
    verify: boolean,
    largest: number,
    sparsity: number,
    parts: Float64Array,
  ): Promise<Mismatch>;
  /** Copies within this process; resolves with the nanoseconds that took. */
  copyBlock(
    source: NativeMemory,
    target: NativeMemory,
    from: number,
    to: number,
    bytes: number,
  ): Promise<number>;
  /** `later`: only maps it; `prepare` does the rest. */
  readonly Memory: new (
    bytes: number,
    locked: boolean,
    later?: boolean,
  ) => NativeMemory;
  readonly DeviceMemory: new (device: number, bytes: number) => NativeDeviceMemory;
  readonly Port: new (command: Float64Array, records: Uint32Array) => NativePort;
  /** Opens CUDA's driver once for this process; `version` is 1000 × major + 10 × minor. */
  openCuda(path: string): { path: string; version: number; devices: number };
  describeGpu(device: number): NativeGpu;
  /** Makes the GPU's context, if this process has none yet. */
  retainGpu(device: number): void;
  freeGpuBytes(device: number): number;
  openLibrary(path: string): { path: string; major: number; minor: number };
  getInfo(query: NativeQuery): NativeInfo[];
  readonly SharedMemory: new (bytes: number) => NativeSharedMemory;
  readonly PeerMemory: new (
    where: { bytes: number; path: string } | { bytes: number; gpu: number; handle: Uint8Array },
  ) => NativePeerMemory;
  readonly TransferBoard: new (how: {
    producers: number;
    shift: number;
    gpu?: number;
  }) => NativeTransferBoard;
  readonly OwnKernel: new (gpu: number, ptx: string, name: string) => NativeOwnKernel;
  readonly TokenKernel: new (gpu: number, work: NativeTokenWork) => NativeTokenKernel;
  /** Whether two GPUs of this process reach each other over NVLink. */
  gpusLinked(from: number, to: number): boolean;
  queueRun(job: NativeQueueJob): NativeTask<NativeQueueResult>;
  endWithParent(parentPid: number): boolean;
  pinToCores(cores: number[]): void;
  allowedCores(): number[];
  /** Rank 0's `value`, on every rank of a job of MPICH's; the others give "". */
  pmiExchange(fd: number, key: string, value: string, timeoutMs: number): NativeTask<string>;
  /** Says goodbye after `pmiExchange` and waits for the answer; false if none came. */
  leavePmi(fd: number): boolean;
  /** `pmiExchange` for Open MPI, by the PMIx library at `path`; waits without end. */
  pmixExchange(path: string, key: string, value: string): NativeTask<string>;
  /** Says goodbye after `pmixExchange`. */
  leavePmix(): void;
}

let loaded: Addon | undefined;

export function addon(): Addon {
  loaded ??= loadAddon() as Addon;
  return loaded;
}

export const isNativeFault = (error: unknown): error is NativeFault =>
  error instanceof Error && 'operation' in error && 'text' in error;
