import { chunksOf, type Plan } from './plan.js';

/** What a rank's steps move over one channel, to one peer or from it, in one iteration. */
export interface Outgoing {
  readonly peer: number;
  readonly channel: number;
  /** The peer's NIC sends it: this rank reads. */
  readonly read: boolean;
  /** Payload of writes and sends, or of reads. */
  readonly bytes: number;
  /** Of that, by writes. */
  readonly writeBytes: number;
  readonly messages: number;
}

/** The transfers that a plan starts, by direction, channel and peer. Receives and waits are the peers' transfers. */
export function outgoingOf(plan: Plan): Outgoing[] {
  const sums = new Map<number, Outgoing>();
  for (const step of plan.steps) {
    if (step.kind !== 'post' || step.op === 'recv') continue;
    const { peer, channel, op } = step;
    const { bytes } = step.local;
    const read = op === 'read';
    const parts = 'parts' in step ? step.parts : undefined;
    const key = (peer * plan.channels + channel) * 2 + (read ? 1 : 0);
    const sum = sums.get(key) ?? { peer, channel, read, bytes: 0, writeBytes: 0, messages: 0 };
    sums.set(key, {
      ...sum,
      bytes: sum.bytes + bytes,
      writeBytes: sum.writeBytes + (op === 'write' ? bytes : 0),
      messages: sum.messages + chunksOf({ bytes, parts }, plan.chunkBytes),
    });
  }
  return [...sums.values()];
}
