import { gbpsOf, gigabytesPerSecond } from './units.js';

/** The bytes that a benchmark's figures divide by the time of one iteration. */
export interface FigureBytes {
  /** Of the figure in the reference tables. */
  readonly figure: number;
  /** What one rank put on the wire. */
  readonly line: number;
}

interface FigureInput {
  readonly bytes: FigureBytes;
  /** Mean over iterations and, where pairs take turns, over pairs. */
  readonly meanNanoseconds: number;
  /** Aggregate line rate of the channels the configuration may use; undefined where not known. */
  readonly allowedGbps?: number | undefined;
  /** The best time this plan could reach; undefined where not known. */
  readonly boundNanoseconds?: number | undefined;
}

/** Result data: null where unknown, never 0. */
export interface Figures {
  readonly gbps: number | null;
  readonly lineGbps: number | null;
  readonly busbwPercent: number | null;
  readonly linePercent: number | null;
  readonly ofBoundPercent: number | null;
}

/** A row above this share of its bound is wrong: a wrong path or a wrong line rate. */
const tooGoodPercent = 102;

/** Send/recv: the size once, over the full round trip. */
export const pingPongBytes = (bytes: number): FigureBytes => ({ figure: bytes, line: bytes });

/** Write: every buffer in flight at once (round-robin: one per target). */
export const oneToEachBytes = (bytes: number, buffers = 1): FigureBytes => ({
  figure: bytes * buffers,
  line: bytes * buffers,
});

/** All-to-all: the size per peer, and what a rank sent to all its peers. */
export const allToAllBytes = (bytes: number, world: number): FigureBytes => ({
  figure: bytes,
  line: bytes * (world - 1),
});

export function figuresOf(input: FigureInput): Figures {
  const { bytes, meanNanoseconds, allowedGbps, boundNanoseconds } = input;
  if (meanNanoseconds <= 0) return noFigures;
  const gbps = gbpsOf(bytes.figure, meanNanoseconds);
  const lineGbps = gbpsOf(bytes.line, meanNanoseconds);
  return {
    gbps,
    lineGbps,
    busbwPercent: percentOf(gbps, allowedGbps),
    linePercent: percentOf(lineGbps, allowedGbps),
    ofBoundPercent: boundNanoseconds ? percentOf(boundNanoseconds, meanNanoseconds) : null,
  };
}

export const noFigures: Figures = {
  gbps: null,
  lineGbps: null,
  busbwPercent: null,
  linePercent: null,
  ofBoundPercent: null,
};

const percentOf = (part: number, whole: number | undefined): number | null =>
  whole === undefined || whole <= 0 ? null : (part / whole) * 100;

/** `burstShare`: of the bytes of the busiest NIC, what a shaper may let through at once. */
export const isTooGood = ({ ofBoundPercent }: Figures, burstShare = 0): boolean =>
  ofBoundPercent !== null && ofBoundPercent * (1 - burstShare) > tooGoodPercent;

/** nccl-tests' two figures, GB/s of 1e9 bytes. */
export interface NcclFigures {
  /** nccl-tests' `size`: for all-to-all all that a rank holds, its own block included. */
  readonly sizeBytes: number;
  readonly algbw: number;
  readonly busbw: number;
}

/** Point to point, busbw is algbw. */
export function ncclPointToPoint(bytes: number, nanoseconds: number): NcclFigures {
  const algbw = gigabytesPerSecond(bytes, nanoseconds);
  return { sizeBytes: bytes, algbw, busbw: algbw };
}

/** busbw takes out the block that a rank keeps: (n − 1) / n. */
export function ncclAllToAll(bytes: number, world: number, nanoseconds: number): NcclFigures {
  const sizeBytes = bytes * world;
  const algbw = gigabytesPerSecond(sizeBytes, nanoseconds);
  return { sizeBytes, algbw, busbw: (algbw * (world - 1)) / world };
}

/** The same for blocks of any sizes: what the busiest rank holds, and what of that it exchanges with others. */
export function ncclExchange(
  heldBytes: number,
  exchangedBytes: number,
  nanoseconds: number,
): NcclFigures {
  return {
    sizeBytes: heldBytes,
    algbw: gigabytesPerSecond(heldBytes, nanoseconds),
    busbw: gigabytesPerSecond(exchangedBytes, nanoseconds),
  };
}

/** A collective of `bytes`, nccl-tests' `size`: `factor` makes rates of different collectives comparable with a line's. */
export function ncclCollective(bytes: number, factor: number, nanoseconds: number): NcclFigures {
  const algbw = gigabytesPerSecond(bytes, nanoseconds);
  return { sizeBytes: bytes, algbw, busbw: algbw * factor };
}
