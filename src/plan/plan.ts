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

export const planVersion = 2;

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

/** One of several parts of a transfer that lie apart: offsets of the local and of the peer's buffer. */
export interface TransferPart {
  readonly local: number;
  readonly remote: number;
  readonly bytes: number;
}

interface RemoteAccess extends PostBase {
  /** Where in the peer's buffer. */
  readonly remote: { readonly offset: number };
  /**
   * Where the transfer lies if not in one stretch. The parts are cut into chunks one by one. `local.bytes` is their
   * sum; `local.offset` and `remote.offset` are those of the first.
   */
  readonly parts?: readonly TransferPart[];
}

/** Into the peer's target buffer. Done when every chunk is delivered (see `Plan.delivery`). */
export interface WriteStep extends RemoteAccess {
  readonly op: 'write';
  /** With this rank, names the piece at the peer; each chunk's immediate carries it. */
  readonly slot: number;
}

/** From the peer's source buffer. Done when every byte is in the local slice; the peer takes no part and learns nothing. */
export interface ReadStep extends RemoteAccess {
  readonly op: 'read';
}

/** Done when the local slice may be reused. */
export interface SendStep extends PostBase {
  readonly op: 'send';
}

/** Done when every byte of the local slice has arrived. */
export interface RecvStep extends PostBase {
  readonly op: 'recv';
}

/** Part of a buffer. */
export interface BufferRange {
  readonly offset: number;
  readonly bytes: number;
}

/** Done when as many arrivals of (source, slot) were counted for this iteration, over all channels, as the write has chunks. */
export interface WaitStep extends StepBase {
  readonly kind: 'wait';
  /** Over which the write comes, for the message when it does not; undefined where that is open. */
  readonly channel?: number;
  readonly source: number;
  readonly slot: number;
  /** Where in this rank's target buffer the bytes come to lie. */
  readonly offset: number;
  readonly bytes: number;
  /** Where the bytes come to lie if not in one stretch: the parts of the write, in its order. */
  readonly parts?: readonly BufferRange[];
}

/** Done as soon as the steps it comes after are, and its time has come: one name for all of them. */
export interface JoinStep extends StepBase {
  readonly kind: 'join';
  /** Nanoseconds since this rank started the iteration. A rank that waits for it is not late, but its peers may be. */
  readonly notBefore?: number;
}

/** The types of numbers that a step can add. */
export const sumDtypes = ['float32', 'float16', 'bfloat16', 'int32'] as const;
export type SumDtype = (typeof sumDtypes)[number];

/** `into[i] = Σ weight × from[i]`: added in float32 (int32: in int32) in the order of the list, rounded once to nearest even. */
export interface SumPart {
  /** Offset in this rank's target buffer. May be one of the addends itself; otherwise it overlaps none of them. */
  readonly into: number;
  readonly bytes: number;
  readonly from: readonly {
    readonly buffer: PostBuffer;
    readonly offset: number;
    /** Default 1. Used as float32. Not for int32. */
    readonly weight?: number;
  }[];
}

/**
 * Adds numbers that lie in this rank's buffers. In host memory, the executor's thread adds part by part between two
 * looks at the queues. In GPU memory, one kernel adds all parts at once: none may add another's result, and int32 does
 * not work.
 */
export interface SumStep extends StepBase {
  readonly kind: 'sum';
  readonly dtype: SumDtype;
  /** In a staged plan: `source` and `target` are the device buffers. All sums of a plan agree. */
  readonly device?: true;
  readonly parts: readonly SumPart[];
}

/** Bytes to copy, at offsets from the starts of two buffers. */
export interface CopyPart {
  readonly from: number;
  readonly to: number;
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
  /**
   * What is copied if it does not lie in one stretch; on a GPU, one kernel copies all parts. They do not overlap in
   * the target. The slices' lengths are their sum, the slices' offsets those of the first.
   */
  readonly parts?: readonly CopyPart[];
}

export type PostStep = WriteStep | ReadStep | SendStep | RecvStep;
/** One thing a rank does in an iteration: a transfer, a wait, a copy between GPU and host, or a sum. */
export type Step = PostStep | WaitStep | CopyStep | JoinStep | SumStep;

/** Steps the last end of which is of interest, and the nanoseconds since the start of the iteration from which it counts. */
export interface Mark {
  readonly steps: readonly number[];
  readonly since: number;
}

/** The two highest slots are the executor's own. */
export const maxSlot = 65_533;
/** More parts in one step are a mistake, not a plan. */
export const maxParts = 1_048_576;
/** An immediate has 15 bits for the source rank. */
export const maxWorld = 32_768;

/** Chunks a step of `bytes` is cut into; a zero-byte step is one chunk of zero bytes. */
export const chunkCount = (bytes: number, chunkBytes: number): number =>
  Math.max(1, Math.ceil(bytes / chunkBytes));

/** The same for a transfer that may have parts, which are cut one by one. */
export const chunksOf = (
  { bytes, parts }: { bytes: number; parts?: readonly { readonly bytes: number }[] | undefined },
  chunkBytes: number,
): number =>
  parts?.reduce((sum, part) => sum + chunkCount(part.bytes, chunkBytes), 0) ??
  chunkCount(bytes, chunkBytes);

export function isWrite(step: Step): step is WriteStep {
  return step.kind === 'post' && step.op === 'write';
}

export function isRead(step: Step): step is ReadStep {
  return step.kind === 'post' && step.op === 'read';
}

export function isWait(step: Step): step is WaitStep {
  return step.kind === 'wait';
}

/** The same bytes in fewer ranges: neighbours are one, and none is empty. */
export function joined(ranges: readonly BufferRange[]): BufferRange[] {
  const result: { offset: number; bytes: number }[] = [];
  for (const { offset, bytes } of ranges) {
    const last = result.at(-1);
    if (last !== undefined && last.offset + last.bytes === offset) last.bytes += bytes;
    else if (bytes > 0) result.push({ offset, bytes });
  }
  return result;
}
