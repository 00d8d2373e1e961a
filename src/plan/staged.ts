import { WeftError } from '../errors.js';
import {
  type BufferRange,
  isWait,
  isWrite,
  joined,
  maxSlot,
  type Plan,
  type PlanBuffer,
  type PostStep,
  type Step,
  type WaitStep,
} from './plan.js';
import {
  cut,
  mostStagedPieces,
  partPieces,
  pieceSize,
  type StagedPiece,
  stagedPieces,
} from './staged-pieces.js';
import { checkCount } from './traffic.js';

/** Where a target tells a source that all it wrote lies in device memory; the slots of data follow. */
const acknowledgementSlot = 0;
const firstDataSlot = 1;

/**
 * The same transfers between device buffers that the fabric cannot reach: each piece is copied from `sourceDevice`
 * to `source` before it is posted, and from `target` to `targetDevice` when it has arrived, so that copies in both
 * directions run beside the transfer of other pieces. Staging buffers are as large as what they stage: no piece
 * waits for another's place.
 *
 * A write counts when the target's device memory has it, which no provider can know: the target acknowledges all
 * writes of a source with one empty write, and the source waits for it. That also keeps a fast source from writing
 * into a staging buffer whose last iteration is still being copied.
 *
 * Sums are made in the device buffers when what they add has been copied there.
 */
export const stagedPlan = (plan: Plan, pieceBytes: number): Plan => stage(plan, pieceBytes).plan;

/** A staged plan, and for each step of the plan it was made from the steps that end it. */
export interface Staged {
  readonly plan: Plan;
  readonly ends: readonly (readonly number[])[];
}

/** The same, for whoever asks when a step is done. */
export function stage(plan: Plan, pieceBytes: number): Staged {
  checkCount('pieceBytes', pieceBytes);
  const staging = new Staging(plan, pieceBytes);
  for (const group of groupsOf(plan.steps)) staging.add(group);
  staging.acknowledge();
  return { plan: { ...plan, steps: staging.steps }, ends: staging.ends };
}

interface Group {
  readonly after: readonly number[];
  readonly indices: number[];
}

function groupsOf(steps: readonly Step[]): Group[] {
  const groups: Group[] = [];
  steps.forEach(({ after }, index) => {
    const last = groups.at(-1);
    if (last !== undefined && String(last.after) === String(after)) last.indices.push(index);
    else groups.push({ after, indices: [index] });
  });
  return groups;
}

class Staging {
  readonly steps: Step[] = [];
  readonly #plan: Plan;
  readonly #pieceBytes: number;
  /** By step of the plan: the steps after which its bytes are where they should be. */
  readonly ends: number[][];

  constructor(plan: Plan, pieceBytes: number) {
    this.#plan = plan;
    this.#pieceBytes = pieceBytes;
    this.ends = plan.steps.map(() => []);
  }

  /** The first piece of every transfer, then the second of each: no peer waits for another's whole transfer. */
  add({ after, indices }: Group): void {
    const before = [...new Set(after.flatMap((index) => this.ends[index]!))];
    const pieces = indices.map((index) => this.#piecesOf(this.#plan.steps[index]!));
    const rounds = Math.max(...pieces.map((list) => list.length));
    for (let round = 0; round < rounds; round++) {
      indices.forEach((index, i) => {
        const piece = pieces[i]![round];
        if (piece === undefined) return;
        this.#addPiece(this.#plan.steps[index]!, piece, round, before);
        this.ends[index]!.push(this.steps.length - 1);
      });
    }
  }

  /** Messages match by their order, which the chunks of several steps would not keep: a piece is one chunk. */
  #piecesOf(step: Step): StagedPiece[] {
    if (step.kind === 'copy') throw new TypeError('the plan is staged already');
    if (step.kind === 'post' && step.op === 'read') throw unstaged('a read');
    if (step.kind === 'join' || step.kind === 'sum') return [{ offset: 0, bytes: 0 }];
    const { bytes } = step.kind === 'wait' ? step : step.local;
    if ('parts' in step && step.parts) {
      return partPieces(step.parts, pieceSize(bytes, this.#pieceBytes));
    }
    if (step.kind === 'wait' || step.op === 'write') return stagedPieces(bytes, this.#pieceBytes);
    return cut(bytes, Math.min(pieceSize(bytes, this.#pieceBytes), this.#plan.chunkBytes));
  }

  #addPiece(step: Step, piece: StagedPiece, round: number, after: readonly number[]): void {
    switch (step.kind) {
      case 'join':
        this.steps.push({ ...step, after });
        break;
      case 'sum':
        this.steps.push({ ...step, device: true, after });
        break;
      case 'wait':
        this.#addWait(step, piece, round, after);
        break;
      case 'post':
        this.#addPost(step, piece, round, after);
    }
  }

  #addWait(step: WaitStep, piece: StagedPiece, round: number, after: readonly number[]): void {
    const slot = slotOf(step.slot, round);
    const parts = piece.parts && step.parts?.slice(piece.parts.from, piece.parts.to);
    const offset = parts ? parts[0]!.offset : step.offset + piece.offset;
    const { bytes } = piece;
    const { parts: _, ...base } = step;
    this.steps.push({ ...base, slot, offset, bytes, after, ...(parts && { parts }) });
    this.#copy('target', 'targetDevice', parts ?? [{ offset, bytes }], [this.steps.length - 1]);
  }

  #addPost(step: PostStep, piece: StagedPiece, round: number, after: readonly number[]): void {
    const parts =
      'parts' in step && piece.parts && step.parts?.slice(piece.parts.from, piece.parts.to);
    const offset = parts ? parts[0]!.local : step.local.offset + piece.offset;
    const local = { ...step.local, offset, bytes: piece.bytes };
    if (step.op === 'recv') {
      this.steps.push({ ...step, local, after });
      this.#copy('target', 'targetDevice', [local], [this.steps.length - 1]);
      return;
    }
    const ranges = parts ? parts.map((part) => ({ ...part, offset: part.local })) : [local];
    const ready = this.#copyOut(step, ranges, after);
    if (step.op === 'send') this.steps.push({ ...step, local, after: ready });
    else if (step.op === 'write') {
      const remote = { offset: parts ? parts[0]!.remote : step.remote.offset + piece.offset };
      const slot = slotOf(step.slot, round);
      this.steps.push({ ...step, local, remote, ...(parts && { parts }), slot, after: ready });
    }
  }

  /** What arrived and is passed on lies in the staging buffer already; sums do not. */
  #copyOut(
    { local: { buffer }, after: before }: PostStep,
    ranges: readonly BufferRange[],
    after: readonly number[],
  ): readonly number[] {
    if (buffer === 'source') return this.#copy('sourceDevice', 'source', ranges, after);
    const isSum = this.#origins(before).some(({ kind }) => kind === 'sum');
    return isSum ? this.#copy('targetDevice', 'target', ranges, after) : after;
  }

  /** Returns the steps after which the bytes are there: empty ranges need no copy. */
  #copy(
    from: PlanBuffer,
    to: PlanBuffer,
    ranges: readonly BufferRange[],
    after: readonly number[],
  ): readonly number[] {
    const stretches = joined(ranges);
    if (stretches.length === 0) return after;
    const { offset } = stretches[0]!;
    const bytes = stretches.reduce((sum, stretch) => sum + stretch.bytes, 0);
    const slice = (buffer: PlanBuffer) => ({ buffer, offset, bytes });
    const copy = { kind: 'copy', from: slice(from), to: slice(to), after } as const;
    const parts = stretches.map((one) => ({ from: one.offset, to: one.offset, bytes: one.bytes }));
    this.steps.push(parts.length === 1 ? copy : { ...copy, parts });
    return [this.steps.length - 1];
  }

  /** The steps of the plan with these indices, with what joins wait for in place of joins. */
  #origins(indices: readonly number[]): Step[] {
    return indices.flatMap((index) => {
      const step = this.#plan.steps[index]!;
      return step.kind === 'join' ? this.#origins(step.after) : step;
    });
  }

  /** To every source of writes when all of them are copied and passed on; from every target of writes. */
  acknowledge(): void {
    const { rank, channels, steps } = this.#plan;
    const copiedFrom = new Map<number, number[]>();
    const targets = new Set<number>();
    steps.forEach((step, index) => {
      if (isWait(step)) {
        const { source } = step;
        copiedFrom.set(source, [...(copiedFrom.get(source) ?? []), ...this.ends[index]!]);
      } else if (isWrite(step)) {
        targets.add(step.peer);
        if (step.local.buffer === 'source') return;
        // It leaves from the staging buffer, which its sources may fill again when they have heard.
        for (const { source } of this.#origins(step.after).filter(isWait)) {
          copiedFrom.get(source)!.push(...this.ends[index]!);
        }
      }
    });
    for (const [peer, after] of copiedFrom) {
      const local = { buffer: 'source', offset: 0, bytes: 0 } as const;
      const channel = (rank + peer) % channels;
      const remote = { offset: 0 };
      const slot = acknowledgementSlot;
      this.steps.push({ kind: 'post', op: 'write', channel, peer, local, remote, slot, after });
    }
    for (const source of targets) {
      const slot = acknowledgementSlot;
      this.steps.push({ kind: 'wait', source, slot, offset: 0, bytes: 0, after: [] });
    }
  }
}

function unstaged(what: string): WeftError {
  const message = `${what} does not work in GPU memory that is staged through the host`;
  const hint = 'Use host memory, or a fabric that reaches GPU memory directly.';
  return new WeftError('BAD_USAGE', message, { hint });
}

function slotOf(slot: number, round: number): number {
  const most = Math.floor((maxSlot + 1 - firstDataSlot) / mostStagedPieces);
  if (slot < most) return firstDataSlot + slot * mostStagedPieces + round;
  throw new WeftError(
    'BAD_USAGE',
    `an immediate can number only ${most} staged transfers per peer`,
    { hint: `Use at most ${most} buffers × channels per peer in DMA columns.` },
  );
}
