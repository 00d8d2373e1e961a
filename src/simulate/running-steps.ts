import { isRead, isWait, isWrite, type Plan, type PostStep, type Step } from '../plan/plan.js';
import type { Ends } from './wiring.js';

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
  /** A further write whose completion the CPU handles while others of its channel are still to come. */
  early: boolean;
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
    const idle = { next: nothing, early: false, group: undefined, postedAt: 0 };
    return { rank: index, step, missing, further, ...idle };
  });
  for (const [i, { step }] of running.entries()) {
    for (const earlier of step.after) {
      running[earlier]!.next = [...running[earlier]!.next, before + i];
    }
  }
  return running;
}

/**
 * At most a window of transfers of a channel is under way. In the simulation all of them are, and end together; only
 * the completions of the last window of a channel are left for the end.
 */
export function markEarly(transfers: readonly Running[], plans: readonly Plan[]): void {
  const later = new Map<number, number>();
  for (let i = transfers.length - 1; i >= 0; i--) {
    const running = transfers[i]!;
    if (!isWrite(running.step)) continue;
    const { channels, window } = plans[running.rank]!;
    const key = running.rank * channels + running.step.channel;
    const after = later.get(key) ?? 0;
    running.early = running.further && after >= window;
    later.set(key, after + 1);
  }
}

/** A read's bytes come from the peer. */
export function endsOf({ rank, step }: Running): Ends {
  const { peer, channel } = step as PostStep;
  return isRead(step) ? { from: peer, to: rank, channel } : { from: rank, to: peer, channel };
}

/** Whether a rank with these steps receives, and sends to other nodes over several NICs. */
export function isManyNicExchange(
  steps: readonly Step[],
  leaves: (step: PostStep) => boolean,
): boolean {
  const channels = new Set(
    steps.flatMap((step) => (isWrite(step) && leaves(step) ? [step.channel] : [])),
  );
  return channels.size > 1 && steps.some(isWait);
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
