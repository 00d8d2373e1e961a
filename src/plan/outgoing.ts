import { chunkCount, type Plan } from './plan.js';

/** What a rank puts on one channel towards one peer in one iteration. */
export interface Outgoing {
  readonly peer: number;
  readonly channel: number;
  /** Payload of writes and sends. */
  readonly bytes: number;
  /** Of that, by writes. */
  readonly writeBytes: number;
  readonly messages: number;
}

/** The transfers of a plan by channel and peer. Receives and waits are the peers' transfers. */
export function outgoingOf(plan: Plan): Outgoing[] {
  const sums = new Map<number, Outgoing>();
  for (const step of plan.steps) {
    if (step.kind !== 'post' || step.op === 'recv') continue;
    const { peer, channel, local, op } = step;
    const key = peer * plan.channels + channel;
    const sum = sums.get(key) ?? { peer, channel, bytes: 0, writeBytes: 0, messages: 0 };
    sums.set(key, {
      ...sum,
      bytes: sum.bytes + local.bytes,
      writeBytes: sum.writeBytes + (op === 'write' ? local.bytes : 0),
      messages: sum.messages + chunkCount(local.bytes, plan.chunkBytes),
    });
  }
  return [...sums.values()];
}
