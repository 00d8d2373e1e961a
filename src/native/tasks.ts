/** Work of the addon on a thread of its own. */
export interface NativeTask<T> {
  readonly done: Promise<T>;
  /** Makes `done` reject soon, unless it has settled. */
  abort(): void;
  /** Lets the process end before the work does. */
  unref(): void;
}

/** One measurement of the queue; see native/gpu/queue-run.h for what is timed. */
export interface NativeQueueJob {
  readonly what: 'push' | 'echo' | 'empty';
  /** The GPU whose threads produce; absent: CPU threads. */
  readonly gpu?: number;
  readonly cells: 'host' | 'device';
  /** Blocks, or CPU threads. */
  readonly grid: number;
  /** Threads of a block, each a producer; of a CPU thread: elements pushed together. */
  readonly block: number;
  /** The capacity is 2 to this. */
  readonly shift: number;
  readonly seed: number;
  readonly each: number;
  /** Elements per sample; where the queue is empty, the number of samples. */
  readonly batch: number;
  /** Of echoes; where the queue is empty, looks per sample. */
  readonly rounds: number;
  /** A system fence before every push. */
  readonly released: boolean;
  readonly timeoutMs: number;
  readonly spinsBeforeYield: number;
}

export interface NativeQueueResult {
  /** Nanoseconds: per batch, per round trip, or per `rounds` empty looks. */
  readonly samples: Float64Array;
  /** Nanoseconds of echoes from push to pop, by two clocks as they are. */
  readonly oneWay: Float64Array;
  readonly popped: number;
  readonly wrong: number;
  readonly first: string;
  /** Producer's clock less the consumer's, and how well that is known. */
  readonly clockOffset: number;
  readonly clockUncertainty: number;
}

/** How a plan's transfers are asked for by producers; see native/proxy/proxy-program.h. */
export interface NativeProxyJob {
  readonly gpu?: number;
  /** CPU threads, or blocks of the kernel. */
  readonly producers: number;
  readonly block: number;
  readonly shift: number;
  readonly blocking: boolean;
  /** Producers write the whole pattern of `seed` before each request. */
  readonly fill: boolean;
  readonly seed: number;
  readonly trace: boolean;
  /** Indices of the plan's steps, by transfer. */
  readonly transfers: readonly (readonly number[])[];
}

export interface NativeProxyResult {
  readonly samples: Float64Array;
  /** Five times per request: pushed, popped, posted, delivered, seen (0 where no quiet showed it). */
  readonly trace: Float64Array;
  readonly clockUncertainty: number;
}

/** A grid of blocks that writes a pattern with 16-byte stores; see native/gpu/ipc.h. */
export interface NativeIpcJob {
  readonly grid: number;
  readonly block: number;
  readonly bytes: number;
  readonly seed: number;
  /** Launches, or passes, per sample. */
  readonly batch: number;
  readonly samples: number;
}

export interface NativeSharedMemory {
  readonly path: string;
  /** Makes every page resident. Once, before others map it. */
  prepare(): NativeTask<void>;
  /** Wrong bytes, then offset, expected and found of the first. */
  verify(bytes: number, seed: number): NativeTask<Float64Array>;
  /** Of the fastest of some. */
  memsetNanoseconds(bytes: number, threads: number): NativeTask<number>;
  close(): void;
}

/** Another process's memory, mapped here to be written. Both resolve with nanoseconds per sample. */
export interface NativePeerMemory {
  write(job: NativeIpcJob): NativeTask<Float64Array>;
  copy(job: NativeIpcJob): NativeTask<Float64Array>;
  close(): void;
}

/** What producers and a service of transfers share; see native/proxy/transfer-board.h. */
export interface NativeTransferBoard {
  /** What a kernel is given: `weft::shmem::Context`. */
  context(): Uint8Array;
  /** False when the service has ended. Not for boards of a GPU. */
  putNbi(producer: number, transfer: number): boolean;
  /** 0: something that the producer asked for is under way; 1: all is delivered; 2: the service has ended. */
  look(producer: number): 0 | 1 | 2;
  /** Producers have ended: the service ends when everything they asked for is delivered. */
  finish(): void;
}

interface NativeLaunch {
  readonly grid: readonly number[];
  readonly block: readonly number[];
  readonly sharedBytes: number;
  /** Exactly as many as the kernel has parameters, of their sizes: CUDA's driver reads that much. */
  readonly args: readonly Uint8Array[];
  readonly timeoutMs: number;
}

/** A kernel of the user's own. It stays loaded until the process ends. */
export interface NativeOwnKernel {
  /** `done` rejects when the kernel is given up, but it runs on: a kernel cannot be stopped. */
  launch(launch: NativeLaunch): NativeTask<void>;
}
