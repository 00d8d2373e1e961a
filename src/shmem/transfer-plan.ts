import { type Plan, planVersion, type WriteStep } from '../plan/plan.js';
import { defaultChunkBytes, defaultWindow } from '../plan/write-plan.js';
import type { ServeTransfersOptions } from './serve-transfers.js';

/** One write for each transfer, on the channels in turn. Nobody waits for them: see native/proxy/serving-executor.h. */
export function transferPlan(options: ServeTransfersOptions): Plan {
  const { world, fabric, source, target, transfers } = options;
  const { channels } = fabric;
  return {
    version: planVersion,
    rank: world.rank,
    world: world.size,
    channels: channels.length,
    chunkBytes: Math.min(defaultChunkBytes, ...channels.map((one) => one.maxMessageBytes)),
    window: Math.max(1, Math.min(defaultWindow, ...channels.map((one) => one.sendQueue))),
    delivery: 'complete',
    sourceBytes: source.bytes,
    targetBytes: target.bytes,
    steps: transfers.map(
      ({ peer, from, to, bytes }, index): WriteStep => ({
        kind: 'post',
        op: 'write',
        channel: index % channels.length,
        peer,
        local: { buffer: 'source', offset: from, bytes },
        remote: { offset: to },
        slot: 0,
        after: [],
      }),
    ),
  };
}
