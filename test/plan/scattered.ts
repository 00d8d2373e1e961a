import type { Block, Traffic } from '../../src/plan/traffic.js';

/** The length of a part, and how far it lies from the one before it at either end. */
export interface PartShape {
  readonly bytes: number;
  readonly sourceGap: number;
  readonly targetGap: number;
}

/** One transfer from rank 0 to rank 1, whose parts lie apart at both ends. */
export function scattered(shapes: readonly PartShape[]): Traffic {
  let [sourceEnd, targetEnd] = [0, 0];
  const parts = shapes.map(({ bytes, sourceGap, targetGap }) => {
    sourceEnd += sourceGap + bytes;
    targetEnd += targetGap + bytes;
    return { sourceOffset: sourceEnd - bytes, targetOffset: targetEnd - bytes, bytes };
  });
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
  const block: Block = { source: 0, target: 1, buffer: 0, ...parts[0]!, bytes, parts };
  return {
    title: 'scattered',
    world: 2,
    sequential: false,
    outgoing: (rank) => (rank === 0 ? [block] : []),
    incoming: (rank) => (rank === 1 ? [block] : []),
    sourceBytes: (rank) => (rank === 0 ? sourceEnd : 0),
    targetBytes: (rank) => (rank === 1 ? targetEnd : 0),
  };
}
