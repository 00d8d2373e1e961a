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
