import type { CopyStep, Plan, PlanBuffer } from '../../src/plan/plan.js';
import { countOf } from './interpreter-chunks.js';
import { addUp } from './numbers.js';
import { bytesToSend } from './source-bytes.js';

/** What a buffer holds before anything comes into it. */
const staleByte = 0xee;

interface Copying {
  readonly step: number;
  /** What was read, between its start and its end. */
  taken: Uint8Array[] | undefined;
}

export interface RankState {
  readonly plan: Plan;
  readonly buffers: Readonly<Record<PlanBuffer, Uint8Array>>;
  /** Where the bytes must be in the end: the target, or the device buffer behind it. */
  readonly target: Uint8Array;
  /** How often each byte of `target` was written. */
  readonly writes: Uint32Array;
  /** Copies that are ready, oldest first, by direction. */
  readonly copies: { toDevice: Copying[]; fromDevice: Copying[] };
  /** Steps of this iteration in the order in which they became ready. */
  ready: number[];
  /** Cumulative over iterations, as the executor counts. */
  readonly arrivals: Map<string, number>;
  /** Per channel, outgoing chunks and posted receives apart. */
  readonly inFlight: { out: number[]; in: number[] };
  iteration: number;
  /** Nanoseconds since the iteration began. */
  time: number;
  issued: number[];
  finished: number[];
}

/** Whether it works in device buffers. */
export const isStaged = ({ steps }: Plan): boolean =>
  steps.some((step) => step.kind === 'copy' || (step.kind === 'sum' && step.device));

export function startOf(plan: Plan): RankState {
  const staged = isStaged(plan);
  const stale = (bytes: number) => new Uint8Array(bytes).fill(staleByte);
  const buffers = {
    source: staged ? stale(plan.sourceBytes) : bytesToSend(plan, 0),
    target: stale(plan.targetBytes),
    sourceDevice: staged ? bytesToSend(plan, 0) : stale(0),
    targetDevice: stale(staged ? plan.targetBytes : 0),
  };
  return {
    plan,
    buffers,
    target: staged ? buffers.targetDevice : buffers.target,
    writes: new Uint32Array(plan.targetBytes),
    copies: { toDevice: [], fromDevice: [] },
    ready: [],
    arrivals: new Map(),
    inFlight: {
      out: new Array<number>(plan.channels).fill(0),
      in: new Array<number>(plan.channels).fill(0),
    },
    iteration: 0,
    time: 0,
    issued: plan.steps.map(() => 0),
    finished: plan.steps.map(() => 0),
  };
}

export function isDone(rank: RankState, index: number): boolean {
  const step = rank.plan.steps[index]!;
  if (step.after.some((earlier) => !isDone(rank, earlier))) return false;
  if (step.kind === 'join') return (step.notBefore ?? 0) <= rank.time;
  if (step.kind === 'copy' || step.kind === 'sum') return rank.finished[index] === 1;
  const chunks = countOf(step, rank.plan.chunkBytes);
  if (step.kind !== 'wait') return rank.finished[index] === chunks;
  const arrived = rank.arrivals.get(`${step.source}/${step.slot}`) ?? 0;
  return arrived >= chunks * (rank.iteration + 1);
}

/** Clears what was done; what a staged plan sends is new. */
export function startNextIteration(rank: RankState): void {
  rank.iteration++;
  rank.time = 0;
  rank.ready = [];
  rank.buffers.sourceDevice.set(
    bytesToSend(rank.plan, rank.iteration).subarray(0, rank.buffers.sourceDevice.length),
  );
  rank.issued = rank.plan.steps.map(() => 0);
  rank.finished = rank.plan.steps.map(() => 0);
}

export function makeReady(rank: RankState): void {
  const known = new Set(rank.ready);
  rank.plan.steps.forEach((step, index) => {
    if (known.has(index) || step.after.some((earlier) => !isDone(rank, earlier))) return;
    rank.ready.push(index);
    if (step.kind === 'copy') rank.copies[wayOf(step)].push({ step: index, taken: undefined });
  });
}

const wayOf = ({ to }: CopyStep): 'toDevice' | 'fromDevice' =>
  to.buffer === 'targetDevice' ? 'toDevice' : 'fromDevice';

/** What may happen on a rank without the fabric: time passes, numbers are added, a copy reads or has written. */
export const localChoices = (rank: RankState): (() => void)[] => [
  ...copying(rank),
  ...adding(rank),
  ...waiting(rank),
];

/** The time of the next join comes. */
function waiting(rank: RankState): (() => void)[] {
  const times = rank.plan.steps.flatMap((step) =>
    step.kind === 'join' && (step.notBefore ?? 0) > rank.time ? [step.notBefore!] : [],
  );
  const pass = () => {
    rank.time = Math.min(...times);
  };
  return times.length === 0 ? [] : [pass];
}

function adding(rank: RankState): (() => void)[] {
  return rank.ready.flatMap((index) => {
    const step = rank.plan.steps[index]!;
    if (step.kind !== 'sum' || rank.finished[index] === 1) return [];
    const add = () => {
      const { buffers } = rank;
      const device = { source: buffers.sourceDevice, target: buffers.targetDevice };
      for (const part of step.parts) addUp(step.dtype, part, step.device ? device : buffers);
      rank.finished[index] = 1;
    };
    return [add];
  });
}

function copying(rank: RankState): (() => void)[] {
  return Object.values(rank.copies).flatMap((queue) => {
    const [copying] = queue;
    if (copying === undefined) return [];
    const { from, to, parts: some } = rank.plan.steps[copying.step] as CopyStep;
    const parts = some ?? [{ from: from.offset, to: to.offset, bytes: from.bytes }];
    if (copying.taken === undefined) {
      const read = () => {
        copying.taken = parts.map((part) =>
          rank.buffers[from.buffer].slice(part.from, part.from + part.bytes),
        );
      };
      return [read];
    }
    const { taken } = copying;
    const write = () => {
      for (const [i, part] of parts.entries()) {
        rank.buffers[to.buffer].set(taken[i]!, part.to);
        if (to.buffer === 'targetDevice') countWrites(rank, part.to, part.bytes);
      }
      rank.finished[copying.step]!++;
      queue.shift();
    };
    return [write];
  });
}

/** Bytes come into the target buffer of `to`. */
export function land(
  to: RankState,
  at: number,
  from: Uint8Array,
  fromAt: number,
  bytes: number,
): void {
  if (at + bytes > to.buffers.target.length)
    throw new Error('a chunk ends outside the target buffer');
  if (fromAt + bytes > from.length)
    throw new Error('a chunk ends outside the buffer it comes from');
  to.buffers.target.set(from.subarray(fromAt, fromAt + bytes), at);
  if (to.target === to.buffers.target) countWrites(to, at, bytes);
}

function countWrites(rank: RankState, at: number, bytes: number): void {
  for (let i = at; i < at + bytes; i++) rank.writes[i]!++;
}
