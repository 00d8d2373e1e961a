import type { AroundCall } from '../collective.js';
import { maxParts, type SumDtype, type SumPart } from '../plan.js';
import { addPart } from '../traffic.js';
import { planFor, type WritePlanOptions } from '../write-plan.js';
import { batchesOf, slicesOf, sumParts } from './moe.js';
import type { MoeLayout } from './moe-layout.js';

/**
 * What a program that moves an expert layer with `alltoallv` does besides the call: it packs the tokens for each rank
 * into one block before a dispatch, and adds up what came back after a combine. Undefined where nothing can copy tokens
 * of this size: the only local steps are sums, and those of int32 alone keep all bytes.
 */
export function moeAroundCall(layout: MoeLayout): AroundCall | undefined {
  const { phase, dispatchBytes } = layout.layer;
  if (phase === 'combine') {
    return {
      what: 'weighted sum',
      targetBytes: (rank) => layout.targetBytes(rank),
      plan: (options) => localPlan(layout, options, 'bfloat16', sumsOf(layout, options.rank)),
    };
  }
  if (phase === 'both' || dispatchBytes % 4 !== 0) return undefined;
  return {
    what: 'packing',
    targetBytes: (rank) => packedBytes(layout, rank),
    // A sum of one addend is a copy.
    plan: (options) => localPlan(layout, options, 'int32', packed(layout, options.rank)),
  };
}

function localPlan(
  layout: MoeLayout,
  options: WritePlanOptions,
  dtype: SumDtype,
  parts: readonly SumPart[],
) {
  const { world } = layout;
  const sizes = {
    world,
    sourceBytes: (rank: number) => layout.sourceBytes(rank),
    targetBytes: (rank: number) =>
      layout.layer.phase === 'combine' ? layout.targetBytes(rank) : packedBytes(layout, rank),
  };
  const steps = Array.from({ length: Math.ceil(parts.length / maxParts) }, (_, i) => ({
    kind: 'sum' as const,
    dtype,
    parts: parts.slice(i * maxParts, (i + 1) * maxParts),
    after: [],
  }));
  return planFor(sizes, options, steps);
}

const othersOf = ({ world }: MoeLayout, rank: number): number[] =>
  Array.from({ length: world }, (_, other) => other).filter((other) => other !== rank);

const packedBytes = (layout: MoeLayout, rank: number): number =>
  othersOf(layout, rank).reduce((sum, host) => sum + layout.between(rank, host), 0) *
  layout.layer.dispatchBytes;

/** The tokens for each other rank in turn, in their order, as `alltoallv` wants them. */
function packed(layout: MoeLayout, rank: number): SumPart[] {
  const { dispatchBytes: bytes } = layout.layer;
  const { starts, ranks } = layout.copies[rank]!;
  const runs: { sourceOffset: number; targetOffset: number; bytes: number }[] = [];
  let targetOffset = 0;
  for (const host of othersOf(layout, rank)) {
    for (let token = 0; token + 1 < starts.length; token++) {
      if (!ranks.subarray(starts[token], starts[token + 1]).includes(host)) continue;
      addPart(runs, { sourceOffset: layout.tokenAt(token), targetOffset, bytes });
      targetOffset += bytes;
    }
  }
  return runs.map((run) => ({
    into: run.targetOffset,
    bytes: run.bytes,
    from: [{ buffer: 'source', offset: run.sourceOffset }],
  }));
}

const sumsOf = (layout: MoeLayout, rank: number): SumPart[] =>
  batchesOf(layout).flatMap((batch) =>
    slicesOf(layout, batch).flatMap((slice) => sumParts(layout, rank, slice)),
  );
