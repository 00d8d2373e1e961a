import type { Mismatch, NativeMemory, NativeSpan } from './memory.js';
import type { NativeProxyJob, NativeProxyResult, NativeTransferBoard } from './tasks.js';

interface NativeNic {
  readonly name?: string;
  readonly driver?: string;
  readonly deviceId?: string;
  readonly firmware?: string;
  readonly bitsPerSecond?: number;
  readonly mtu?: number;
}

/** One thing libfabric offers. `handle` opens it. */
export interface NativeInfo {
  readonly provider: string;
  readonly fabric: string;
  readonly domain: string;
  readonly caps: bigint;
  /** Ranks may read each other's memory. */
  readonly reads: boolean;
  readonly mrMode: number;
  readonly cqDataSize: number;
  readonly mrKeySize: number;
  readonly autoProgress: boolean;
  readonly maxMessageBytes: number;
  readonly injectBytes: number;
  readonly sendQueue: number;
  readonly receiveQueue: number;
  readonly nic?: NativeNic;
  readonly handle: object;
}

export interface NativeQuery {
  readonly provider?: string;
  readonly fabric?: string;
  /** A source address to bind to. */
  readonly node?: string;
  /** Memory registration bits offered to the provider. */
  readonly mrMode?: number;
  /** Only what can name the sender of a receive. */
  readonly directed?: boolean;
  /** Also what cannot say when a write is delivered. */
  readonly acknowledged?: boolean;
  /** Also what lets an immediate take a posted receive (FI_RX_CQ_DATA). */
  readonly receivesForData?: boolean;
  /** Only what can move a GPU's memory, or says so. */
  readonly deviceMemory?: boolean;
  /** Everything there is, usable by us or not. */
  readonly anything?: boolean;
  /** With `anything`: of what needs posted receives for immediates, only the rest. */
  readonly unsolicited?: boolean;
}

/** A plan to execute; see native/plan/executor.h for what is timed. */
export interface NativeJob {
  readonly plan: {
    header: Uint32Array;
    steps: Float64Array;
    after: Uint32Array;
    parts: Float64Array;
  };
  readonly source: number;
  readonly target: number;
  /** The buffers that `source` and `target` stage, for plans with copies. */
  readonly device?: { readonly source: NativeSpan; readonly target: NativeSpan };
  /** Every rank's target buffer. */
  readonly remotes: readonly number[];
  /** Every rank's source buffer, for plans with reads. */
  readonly readable?: readonly number[];
  readonly iterations: number;
  readonly batch: number;
  /** Without any progress. */
  readonly timeoutMs: number;
  /** Of the whole run, where it is known; 0 where not. */
  readonly expectedMs: number;
  readonly spinsBeforeYield: number;
}

/** Keeps the times at which these steps of the plan are done. */
interface Marking {
  readonly marks: Uint32Array;
}

/** Records stretches longer than this in which nothing completed on this rank. */
interface Watching {
  readonly silenceMs: number;
}

export interface NativeEndpointOptions {
  /** Receives name their sender. */
  readonly directed: boolean;
  /** Targets acknowledge writes. */
  readonly acknowledged: boolean;
  readonly peersExpected: number;
  /** Of efa: ranks of one host may use shared memory. */
  readonly localShm: boolean;
}

/** What an open endpoint can hold. */
export interface NativeLimits {
  readonly maxMessageBytes: number;
  readonly maxWriteBytes: number;
  readonly receiveQueue: number;
  /** Messages are copied to the receives that name their sender. */
  readonly sorted: boolean;
  /** Where the provider says whether it makes writes of sends. */
  readonly emulatedWrites?: boolean;
}

/** All endpoints of one rank. `post` and `poll` speak through the two arrays given to the constructor. */
export interface NativePort {
  /** All of them before the first `name`. */
  open(handle: object, how: NativeEndpointOptions): number;
  name(endpoint: number): Uint8Array;
  limits(endpoint: number): NativeLimits;
  /** Learns every rank's address on an endpoint. */
  connect(endpoint: number, rank: number, addresses: readonly Uint8Array[]): void;
  /** `dmabuf` names a GPU's memory by a file descriptor. */
  addRegion(
    memory: NativeSpan,
    keys: readonly bigint[],
    dmabuf?: number,
  ): { id: number; keys: bigint[] };
  /** The same for host memory, on a thread of its own: until it settles, every other call throws EBUSY. */
  addRegionLater(
    memory: NativeMemory,
    keys: readonly bigint[],
  ): Promise<{ id: number; keys: bigint[] }>;
  /** False while operations use it. */
  removeRegion(id: number): boolean;
  addRemote(addresses: readonly bigint[], keys: readonly bigint[]): number;
  removeRemote(id: number): void;
  /** The id of the operation, or -1 when it is complete already. */
  post(): number;
  /** The number of records written. */
  poll(spins: number): number;
  /** False when the operation cannot be recalled. */
  cancel(id: number): boolean;
  takeText(key: number): string | undefined;
  /** Like `run` below, with producers that ask for the plan's transfers. */
  run(job: NativeJob & { proxy: NativeProxyJob }): Promise<NativeProxyResult>;
  /** Carries out a plan’s writes as a board’s producers ask for them, until the board is finished. */
  run(job: NativeJob & { board: NativeTransferBoard }): Promise<Float64Array>;
  /** The same, looking at bytes of the target buffer as soon as they are said to be there. */
  run(
    job: NativeJob & {
      /** Four numbers for each part: offset, bytes, seed and position of the pattern. */
      expected: Float64Array;
    },
  ): Promise<{ samples: Float64Array; early: Mismatch }>;
  /** The same, with what was asked for beside the samples. */
  run(job: NativeJob & ((Marking & Partial<Watching>) | (Partial<Marking> & Watching))): Promise<{
    samples: Float64Array;
    /** For every iteration: the nanoseconds from its start to the end of each step of `marks`, in their order. */
    marks?: Float64Array;
    /**
     * Of each: start in nanoseconds of the run, duration, 1 in a barrier, how many transfers are open, and of each of
     * those peer, channel (-1: any) and 1 where it goes out.
     */
    silences?: Float64Array;
  }>;
  /** Executes a plan on a thread of its own; one sample in nanoseconds per batch of iterations. */
  run(job: NativeJob): Promise<Float64Array>;
  /** Makes a running plan reject soon. */
  abort(): void;
  /** False when the provider did not let go in time: its endpoints then stay until the process ends. */
  close(): boolean;
}
