import { isWrite, type Plan, type PostStep, type Step } from '../plan/plan.js';

/** A step of one of the plans, while it runs. */
export interface Running {
  readonly rank: number;
  readonly step: Step;
  /** Steps that come after this one. */
  next: readonly number[];
  /** What it still waits for: steps before it, and an arrival. */
  missing: number;
  /** A write on another channel than the first one towards its peer. */
  readonly further: boolean;
  group: number | undefined;
  /** When its last chunk is posted. */
  postedAt: number;
}

/** Most steps have no others after them. */
const nothing: readonly number[] = [];

/** Whether a step puts bytes on the fabric. */
export const isTransfer = (step: Step): step is PostStep =>
  step.kind === 'post' && step.op !== 'recv';

/** The steps of one of several plans; they are numbered over all plans. */
export function runningSteps(plan: Plan, index: number, plans: readonly Plan[]): Running[] {
  const before = plans.slice(0, index).reduce((sum, { steps }) => sum + steps.length, 0);
  const firstChannel = new Map<number, number>();
  const running = plan.steps.map((step): Running => {
    if (step.kind === 'copy') {
      throw new TypeError('copies between GPU and host memory are not part of the model');
    }
    const further = isWrite(step) && firstOf(firstChannel, step) !== step.channel;
    // A join has nothing to do, and a sum takes no time in the model.
    const missing = step.after.length + (awaitedBy(step) ? 1 : 0);
    return { rank: index, step, next: nothing, missing, further, group: undefined, postedAt: 0 };
  });
  for (const [i, { step }] of running.entries()) {
    for (const earlier of step.after) {
      running[earlier]!.next = [...running[earlier]!.next, before + i];
    }
  }
  return running;
}

function firstOf(channels: Map<number, number>, { peer, channel }: PostStep): number {
  const known = channels.get(peer);
  if (known !== undefined) return known;
  channels.set(peer, channel);
  return channel;
}

/** Slots of writes end below this; messages are told apart by their channel. */
const slots = 2 ** 16;
export const recvSlot = (channel: number): number => slots + channel;
/** Names a piece or message from one rank to another. */
export const arrivalKey = (world: number, target: number, source: number, slot: number): number =>
  (target * world + source) * 2 * slots + slot;

/** The steps that wait for an arrival, by whom it comes from; several in the order of the plan. */
export function receiversOf(steps: readonly Running[], world: number): Map<number, number[]> {
  const receivers = new Map<number, number[]>();
  for (const [i, { rank, step }] of steps.entries()) {
    const awaited = awaitedBy(step);
    if (awaited === undefined) continue;
    const key = arrivalKey(world, rank, awaited.source, awaited.slot);
    const known = receivers.get(key);
    if (known === undefined) receivers.set(key, [i]);
    else known.push(i);
  }
  return receivers;
}

function awaitedBy(step: Step): { source: number; slot: number } | undefined {
  if (step.kind === 'wait') return step;
  if (step.kind === 'post' && step.op === 'recv') {
    return { source: step.peer, slot: recvSlot(step.channel) };
  }
  return undefined;
}
