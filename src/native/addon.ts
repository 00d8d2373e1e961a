import { createRequire } from 'node:module';
import { WeftError } from '../errors.js';
import type {
  NativeOwnKernel,
  NativePeerMemory,
  NativeProxyJob,
  NativeProxyResult,
  NativeQueueJob,
  NativeQueueResult,
  NativeSharedMemory,
  NativeTask,
  NativeTransferBoard,
} from './tasks.js';

/** What the addon throws. */
export interface NativeFault extends Error {
  readonly operation: string;
  readonly code: number;
  readonly text: string;
}

export interface NativeMismatch {
  readonly wrong: number;
  readonly offset: number;
  readonly expected: number;
  readonly found: number;
}

/** Host memory outside the JavaScript heap. Seeds and positions are whole numbers below 2^53. */
export interface NativeMemory {
  readonly address: bigint;
  view(offset: number, bytes: number): ArrayBuffer;
  fill(offset: number, bytes: number, seed: number, position: number): Promise<NativeMismatch>;
  verify(offset: number, bytes: number, seed: number, position: number): Promise<NativeMismatch>;
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
  verify(offset: number, bytes: number, seed: number, position: number): Promise<NativeMismatch>;
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
  /** Milliseconds of one repeat; see native/gpu-timing.h. With 0 blocks a multiprocessor, the usual shape. */
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

export type GpuWork =
  | 'set'
  | 'fill'
  | 'read'
  | 'verify'
  | 'copyToHost'
  | 'copyToDevice'
  | 'copyOnDevice';

/** A GPU as its driver describes it, without a context on it. */
export interface NativeGpu {
  readonly index: number;
  readonly name: string;
  readonly pci: string;
  readonly memoryBytes: number;
  readonly capabilityMajor: number;
  readonly capabilityMinor: number;
  readonly multiprocessors: number;
  readonly l2CacheBytes: number;
  readonly copyEngines: number;
  readonly unifiedAddressing: boolean;
  readonly dmabuf: boolean;
  readonly ipc: boolean;
  readonly gpuDirectRdma: boolean;
  readonly hostNativeAtomics: boolean;
  readonly peers: number[];
}

export interface NativeNic {
  readonly name?: string;
  readonly driver?: string;
  readonly bitsPerSecond?: number;
  readonly mtu?: number;
  readonly up?: boolean;
  readonly pci?: string;
}

/** One thing libfabric offers. `handle` opens it. */
export interface NativeInfo {
  readonly provider: string;
  readonly fabric: string;
  readonly domain: string;
  readonly address: string;
  readonly caps: bigint;
  readonly mode: bigint;
  readonly mrMode: number;
  readonly cqDataSize: number;
  readonly mrKeySize: number;
  readonly autoProgress: boolean;
  readonly maxMessageBytes: number;
  readonly injectBytes: number;
  readonly sendQueue: number;
  readonly receiveQueue: number;
  readonly protocol: number;
  readonly nic?: NativeNic;
  readonly handle: object;
}

export interface NativeQuery {
  readonly provider?: string;
  /** A source address to bind to. */
  readonly node?: string;
  readonly service?: string;
  /** Memory registration bits offered to the provider. */
  readonly mrMode?: number;
  /** Only what can name the sender of a receive. */
  readonly directed?: boolean;
  /** Only what can move a GPU's memory, or says so. */
  readonly deviceMemory?: boolean;
  /** Everything there is, usable by us or not. */
  readonly anything?: boolean;
}

/** Memory that plans can move. */
export type NativeSpan = NativeMemory | NativeDeviceMemory;

/** A plan to execute; see native/executor.h for what is timed. */
export interface NativeJob {
  readonly plan: { header: Uint32Array; steps: Float64Array; after: Uint32Array };
  readonly source: number;
  readonly target: number;
  /** The buffers that `source` and `target` stage, for plans with copies. */
  readonly device?: { readonly source: NativeSpan; readonly target: NativeSpan };
  /** Every rank's target buffer, by rank. */
  readonly remotes: readonly number[];
  readonly iterations: number;
  readonly batch: number;
  /** Without any progress. */
  readonly timeoutMs: number;
  /** Of the whole run, where it is known; 0 where not. */
  readonly expectedMs: number;
  readonly spinsBeforeYield: number;
  /** Tests only: what the executor does wrong on purpose. */
  readonly sabotage?: { kind: 'flip' | 'drop'; offset: number };
}

/** All endpoints of one rank. `post` and `poll` speak through the two arrays given to the constructor. */
export interface NativePort {
  open(handle: object, directed: boolean, peersExpected: number): number;
  name(endpoint: number): Uint8Array;
  insertPeers(endpoint: number, addresses: readonly Uint8Array[]): void;
  /** `dmabuf` names a GPU's memory by a file descriptor. */
  addRegion(
    memory: NativeSpan,
    keys: readonly bigint[],
    dmabuf?: number,
  ): { id: number; keys: bigint[] };
  /** False while operations use it. */
  removeRegion(id: number): boolean;
  addRemote(addresses: readonly bigint[], keys: readonly bigint[]): number;
  removeRemote(id: number): void;
  /** The id of the operation, or -1 when it is complete already. */
  post(): number;
  /** The number of records written. */
  poll(spins: number): number;
  cancel(id: number): void;
  takeText(key: number): string | undefined;
  /** Like `run` below, with producers that ask for the plan's transfers. */
  run(job: NativeJob & { proxy: NativeProxyJob }): Promise<NativeProxyResult>;
  /** Carries out a plan’s writes as a board’s producers ask for them, until the board is finished. */
  run(job: NativeJob & { board: NativeTransferBoard }): Promise<Float64Array>;
  /** Executes a plan on a thread of its own; one sample in nanoseconds per batch of iterations. */
  run(job: NativeJob): Promise<Float64Array>;
  /** Makes a running plan reject soon. */
  abort(): void;
  /** Tests only. */
  shuffle(seed: number, holdChance: number): void;
  close(): void;
}

/** What a library that Weft is compared with is told of the job; see native/peers/peer.h. */
export interface NativePeerSetup {
  readonly rank: number;
  readonly size: number;
  /** CUDA's number; only NCCL reads it. */
  readonly gpu: number;
  /** Empty: the library's own choice. */
  readonly networkInterface: string;
  readonly timeoutMs: number;
  readonly sourceBytes: number;
  readonly targetBytes: number;
  readonly elementBytes: number;
}

/** Such a library, driven from a thread of its own, one call after the other. */
export interface NativePeer {
  readonly version: string;
  /** The address of this rank. */
  open(setup: NativePeerSetup): Promise<Uint8Array>;
  connect(addresses: readonly Uint8Array[]): Promise<void>;
  /** Nanoseconds. Bytes are by rank. */
  exchange(
    source: NativeMemory,
    target: NativeMemory,
    sendBytes: Float64Array,
    receiveBytes: Float64Array,
    uniform: boolean,
  ): Promise<number>;
  close(): Promise<void>;
}

export interface Addon {
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
  /** Copies within this process; resolves with the nanoseconds that took. */
  copyBlock(
    source: NativeMemory,
    target: NativeMemory,
    from: number,
    to: number,
    bytes: number,
  ): Promise<number>;
  readonly Memory: new (bytes: number, locked: boolean) => NativeMemory;
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
  /** Whether two GPUs of this process reach each other over NVLink. */
  gpusLinked(from: number, to: number): boolean;
  queueRun(job: NativeQueueJob): NativeTask<NativeQueueResult>;
  endWithParent(parentPid: number): boolean;
  pinToCores(cores: number[]): void;
  allowedCores(): number[];
}

let loaded: Addon | undefined;

/** The native addon, loaded on first use. */
export function addon(): Addon {
  if (loaded) return loaded;
  try {
    loaded = createRequire(import.meta.url)('../../build/Release/weft.node') as Addon;
    return loaded;
  } catch (cause) {
    throw new WeftError('ADDON_MISSING', 'the native addon could not be loaded', {
      hint: 'Run `npm run setup` in the checkout; it builds the addon for this Node.',
      cause,
    });
  }
}

export const isNativeFault = (error: unknown): error is NativeFault =>
  error instanceof Error && 'operation' in error && 'text' in error;
