import {
  type Block,
  blockStride,
  checkBytes,
  checkRank,
  checkWorld,
  type Traffic,
} from '../traffic.js';

/** So many bytes from one rank to another. */
export interface Transfer {
  readonly from: number;
  readonly to: number;
  readonly bytes: number;
  /** Nanoseconds from the start of the iteration until it may start. */
  readonly notBefore?: number;
}

/**
 * Any list of transfers, all at once. Each has a stretch of its own in the source buffer of its sender and in the target
 * buffer of its receiver, in the order of the list, which is also the order in which a rank posts.
 */
export function transfersTraffic(
  title: string,
  world: number,
  transfers: readonly Transfer[],
): Traffic {
  checkWorld(world);
  const ranks = Array.from({ length: world }, () => ({
    outgoing: [] as Block[],
    incoming: [] as Block[],
    sourceBytes: 0,
    targetBytes: 0,
  }));
  const buffers = new Map<number, number>();
  for (const { from, to, bytes, notBefore } of transfers) {
    checkRank('from', from, world);
    checkRank('to', to, world);
    checkBytes('bytes', bytes);
    if (from === to) throw new TypeError(`rank ${from} sends to itself`);
    const [sender, receiver] = [ranks[from]!, ranks[to]!];
    const pair = from * world + to;
    const buffer = buffers.get(pair) ?? 0;
    buffers.set(pair, buffer + 1);
    const block = {
      source: from,
      target: to,
      buffer,
      sourceOffset: sender.sourceBytes,
      targetOffset: receiver.targetBytes,
      bytes,
      ...(notBefore !== undefined && { notBefore }),
    };
    sender.outgoing.push(block);
    receiver.incoming.push(block);
    sender.sourceBytes += blockStride(bytes);
    receiver.targetBytes += blockStride(bytes);
  }
  return {
    title,
    world,
    sequential: false,
    outgoing: (rank) => ranks[rank]!.outgoing,
    incoming: (rank) => ranks[rank]!.incoming,
    sourceBytes: (rank) => ranks[rank]!.sourceBytes,
    targetBytes: (rank) => ranks[rank]!.targetBytes,
  };
}
