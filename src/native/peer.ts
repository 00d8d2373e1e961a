import type { NativeMemory } from './memory.js';

/** What a library that Weft is compared with is told of the job; see native/peers/peer.h. */
interface NativePeerSetup {
  readonly rank: number;
  readonly size: number;
  /** CUDA's number; only NCCL reads it. */
  readonly gpu: number;
  /** Empty: the library's own choice. */
  readonly networkInterface: string;
  readonly timeoutMs: number;
  readonly sourceBytes: number;
  readonly targetBytes: number;
}

/** As native/peers/peer.h numbers them. */
export const peerKinds = [
  'alltoallv',
  'allreduce',
  'allgather',
  'reduce-scatter',
  'broadcast',
] as const;
export const peerTypes = ['opaque', 'float32', 'float16', 'bfloat16', 'int32'] as const;

/** One collective as this rank sees it; see native/peers/peer.h. */
export interface NativeCollective {
  readonly kind: number;
  readonly type: number;
  readonly elementBytes: number;
  readonly bytes: number;
  readonly root: number;
  readonly uniform: boolean;
  /** By rank; empty unless it is an alltoallv. */
  readonly sendBytes: Float64Array;
  readonly receiveBytes: Float64Array;
}

/** Such a library, driven from a thread of its own, one call after the other. */
export interface NativePeer {
  readonly version: string;
  /** The address of this rank. */
  open(setup: NativePeerSetup): Promise<Uint8Array>;
  connect(addresses: readonly Uint8Array[]): Promise<void>;
  /** Nanoseconds of each batch, which divides the iterations. */
  run(
    source: NativeMemory,
    target: NativeMemory,
    collective: NativeCollective,
    iterations: number,
    batch: number,
  ): Promise<Float64Array>;
  close(): Promise<void>;
}
