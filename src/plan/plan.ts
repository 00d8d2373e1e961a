/**
 * A plan is what one rank does in one iteration, as plain data.
 *
 * Dataflow: a step may start when every step named in its `after` is done; the iteration ends when
 * all steps are done. Posts are issued in the order in which they became ready, list order among equals, cut
 * into chunks of `chunkBytes`, with at most `window` chunks in flight per channel. Nothing relies on the order
 * of arrival; messages between two ranks on one channel match in the order in which they were posted.
 */
export interface Plan {
  readonly version: typeof planVersion;
  readonly rank: number;
  readonly world: number;
  readonly channels: number;
  /** Both sides of a transfer cut it by this, so both derive the same number of arrivals. */
  readonly chunkBytes: number;
  /**
   * Chunks in flight per channel, counted apart for what goes out and for posted receives: if they
   * shared it, receives could fill it and hold back the very sends whose answers they wait for.
   */
  readonly window: number;
  /** What completes a write or send: the peer has the bytes, or the buffer may be reused. */
  readonly delivery: Delivery;
  /** Size of the buffer this rank sends from. */
  readonly sourceBytes: number;
  /** Size of the buffer this rank receives into. */
  readonly targetBytes: number;
  readonly steps: readonly Step[];
}

export const planVersion = 1;

export type Delivery = 'complete' | 'transmit';

/** The buffers that posts name. Device buffers are staged through these by `copy` steps. */
export type PostBuffer = 'source' | 'target';
/** A buffer of the executor: what it posts from and to, and the GPU buffers behind them in a staged plan. */
export type PlanBuffer = PostBuffer | 'sourceDevice' | 'targetDevice';

/** Part of a buffer of the executor. */
export interface PlanSlice<B extends PlanBuffer = PlanBuffer> {
  readonly buffer: B;
  readonly offset: number;
  readonly bytes: number;
}

interface StepBase {
  /** Indices of earlier steps of the same plan. */
  readonly after: readonly number[];
}

interface PostBase extends StepBase {
  readonly kind: 'post';
  readonly channel: number;
  readonly peer: number;
  readonly local: PlanSlice<PostBuffer>;
}

/** Done when every chunk is delivered (see `Plan.delivery`). */
export interface WriteStep extends PostBase {
  readonly op: 'write';
  /** Where in the peer's target buffer. */
  readonly remote: { readonly offset: number };
  /** With this rank, names the piece at the peer; each chunk's immediate carries it. */
  readonly slot: number;
}

/** Done when the local slice may be reused. */
export interface SendStep extends PostBase {
  readonly op: 'send';
}

/** Done when every byte of the local slice has arrived. */
export interface RecvStep extends PostBase {
  readonly op: 'recv';
}

/** Done when `chunkCount(bytes)` arrivals of (source, slot) were counted for this iteration, over all channels. */
export interface WaitStep extends StepBase {
  readonly kind: 'wait';
  readonly source: number;
  readonly slot: number;
  /** Where in this rank's target buffer the bytes come to lie. */
  readonly offset: number;
  readonly bytes: number;
}

/**
 * Between a device buffer and its pinned staging buffer. Both slices have the same length. Copies of one direction
 * run and end in the order in which they became ready, one after the other.
 */
export interface CopyStep extends StepBase {
  readonly kind: 'copy';
  readonly from: PlanSlice;
  readonly to: PlanSlice;
}

export type PostStep = WriteStep | SendStep | RecvStep;
/** One thing a rank does in an iteration: a transfer, a wait, or a copy between GPU and host. */
export type Step = PostStep | WaitStep | CopyStep;

/** The two highest slots are the executor's own. */
export const maxSlot = 65_533;
/** An immediate has 15 bits for the source rank. */
export const maxWorld = 32_768;

/** Chunks a step of `bytes` is cut into; a zero-byte step is one chunk of zero bytes. */
export const chunkCount = (bytes: number, chunkBytes: number): number =>
  Math.max(1, Math.ceil(bytes / chunkBytes));

export function isWrite(step: Step): step is WriteStep {
  return step.kind === 'post' && step.op === 'write';
}

export function isWait(step: Step): step is WaitStep {
  return step.kind === 'wait';
}
