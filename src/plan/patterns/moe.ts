import type { SumPart } from '../plan.js';
import {
  addPart,
  type Block,
  type BlockPart,
  type Content,
  partsOf,
  type Traffic,
} from '../traffic.js';
import type { MoeLayer, MoeLayout } from './moe-layout.js';

const titles = {
  dispatch: 'expert dispatch',
  combine: 'expert combine',
  both: 'expert dispatch and combine',
} as const satisfies Record<MoeLayer['phase'], string>;

/**
 * One expert layer. Dispatch writes each token once to each other rank that hosts one of its experts; combine writes one
 * vector per such token and rank back, and the token's own rank adds them up with their weights.
 */
export function moeTraffic(layout: MoeLayout): Traffic {
  const { phase } = layout.layer;
  const inBatches = (there: BlocksOf, back: BlocksOf) => (rank: number) =>
    batchesOf(layout).flatMap((batch) => [
      ...inSlices(layout, rank, batch, there),
      ...inSlices(layout, rank, batch, back),
    ]);
  return {
    title: titles[phase],
    world: layout.world,
    sequential: false,
    outgoing: inBatches(dispatches, returns),
    incoming: inBatches(arrivals, comebacks),
    contents: (rank) => [
      ...(phase === 'combine' ? [] : arrived(layout, rank)),
      ...(phase === 'dispatch' ? [] : sums(layout, rank)),
    ],
    ...(phase !== 'dispatch' && {
      numbers: { dtype: 'bfloat16', weight: 1, of: (rank) => [layout.returns(rank)] },
    }),
    sourceBytes: (rank) => layout.sourceBytes(rank),
    targetBytes: (rank) => layout.targetBytes(rank),
  };
}

export const batchesOf = ({ layer }: MoeLayout): number[] =>
  Array.from({ length: layer.microBatches }, (_, batch) => batch);

export const slicesOf = ({ layer: { slices } }: MoeLayout, batch: number): number[] =>
  Array.from({ length: slices }, (_, i) => batch * slices + i);

/** Peers in the order rank + 1, rank + 2, …: at any moment the ranks aim at different targets. */
const targetsOf = ({ world }: MoeLayout, rank: number): number[] =>
  Array.from({ length: world - 1 }, (_, i) => (rank + 1 + i) % world);
const sourcesOf = ({ world }: MoeLayout, rank: number): number[] =>
  Array.from({ length: world - 1 }, (_, i) => (rank + world - 1 - i) % world);

/** What a rank sends or receives of a slice: a block for each other rank that has anything. */
export type BlocksOf = (layout: MoeLayout, rank: number, slice: number) => Block[];

/** Slice by slice: a rank that sent everything to one peer first would leave others idle where peers get more than it. */
export const inSlices = (
  layout: MoeLayout,
  rank: number,
  batch: number,
  blocksOf: BlocksOf,
): Block[] => slicesOf(layout, batch).flatMap((slice) => blocksOf(layout, rank, slice));

/** Tokens on their way to experts. */
export const dispatches: BlocksOf = (layout, rank, slice) =>
  targetsOf(layout, rank).flatMap((host) => dispatchOf(layout, rank, host, slice));
export const arrivals: BlocksOf = (layout, rank, slice) =>
  sourcesOf(layout, rank).flatMap((origin) => dispatchOf(layout, origin, rank, slice));

/** What experts return. */
export const returns: BlocksOf = (layout, rank, slice) =>
  targetsOf(layout, rank).flatMap((origin) => returnOf(layout, origin, rank, slice));
export const comebacks: BlocksOf = (layout, rank, slice) =>
  sourcesOf(layout, rank).flatMap((host) => returnOf(layout, rank, host, slice));

function dispatchOf(layout: MoeLayout, origin: number, host: number, slice: number): Block[] {
  const { phase, dispatchBytes } = layout.layer;
  if (phase === 'combine') return [];
  const first = layout.between(origin, host, slice);
  const count = layout.between(origin, host, slice + 1) - first;
  if (count === 0) return [];
  let known: BlockPart[] | undefined;
  const runs = () => {
    known ??= runsOf(layout, origin, host, slice);
    return known;
  };
  // Loads and bounds ask for bytes alone, of all pairs of ranks.
  return [
    {
      source: origin,
      target: host,
      buffer: slice,
      get sourceOffset() {
        return runs()[0]!.sourceOffset;
      },
      targetOffset: layout.arrivedAt(origin, host, first),
      bytes: count * dispatchBytes,
      get parts() {
        return runs();
      },
    },
  ];
}

function returnOf(layout: MoeLayout, origin: number, host: number, slice: number): Block[] {
  const { phase, microBatches, slices, combineBytes } = layout.layer;
  const first = layout.between(origin, host, slice);
  const count = layout.between(origin, host, slice + 1) - first;
  if (phase === 'dispatch' || count === 0) return [];
  return [
    {
      source: host,
      target: origin,
      buffer: (phase === 'both' ? microBatches * slices : 0) + slice,
      sourceOffset: layout.returnedAt(origin, host, first),
      targetOffset: layout.cameBackAt(origin, host, first),
      bytes: count * combineBytes,
    },
  ];
}

/** Neighbouring tokens are one part: they lie beside each other at both ends. */
function runsOf(layout: MoeLayout, origin: number, host: number, slice: number): BlockPart[] {
  const { dispatchBytes } = layout.layer;
  const { starts, ranks } = layout.copies[origin]!;
  const [from, to] = layout.tokensOf(origin, slice, slice + 1);
  const runs: { sourceOffset: number; targetOffset: number; bytes: number }[] = [];
  let n = layout.between(origin, host, slice);
  for (let token = from; token < to; token++) {
    if (!ranks.subarray(starts[token], starts[token + 1]).includes(host)) continue;
    const sourceOffset = layout.tokenAt(token);
    const targetOffset = layout.arrivedAt(origin, host, n++);
    addPart(runs, { sourceOffset, targetOffset, bytes: dispatchBytes });
  }
  return runs;
}

const arrived = (layout: MoeLayout, rank: number): Content[] =>
  batchesOf(layout)
    .flatMap((batch) => inSlices(layout, rank, batch, arrivals))
    .flatMap((block) =>
      partsOf(block).map(({ sourceOffset: offset, targetOffset, bytes }) => ({
        offset: targetOffset,
        bytes,
        copyOf: { rank: block.source, offset },
      })),
    );

/** Calls `visit` for each copy of these tokens, with its number among those of the same pair of ranks. */
function eachCopy(
  layout: MoeLayout,
  rank: number,
  [fromSlice, toSlice]: readonly [number, number],
  visit: (token: number, host: number, n: number, weight: number) => void,
): void {
  const { starts, ranks, sixteenths } = layout.copies[rank]!;
  const [from, to] = layout.tokensOf(rank, fromSlice, toSlice);
  const numbers = Uint32Array.from({ length: layout.world }, (_, host) =>
    layout.between(rank, host, fromSlice),
  );
  for (let token = from; token < to; token++) {
    for (let i = starts[token]!; i < starts[token + 1]!; i++) {
      const host = ranks[i]!;
      visit(token, host, numbers[host]!++, sixteenths[i]! / 16);
    }
  }
}

function sums(layout: MoeLayout, rank: number): Content[] {
  const { combineBytes: bytes, microBatches, slices } = layout.layer;
  const found: { token: number; sumOf: { rank: number; offset: number; weight: number }[] }[] = [];
  eachCopy(layout, rank, [0, microBatches * slices], (token, host, n, weight) => {
    if (found.at(-1)?.token !== token) found.push({ token, sumOf: [] });
    found.at(-1)!.sumOf.push({ rank: host, offset: layout.returnedAt(rank, host, n), weight });
  });
  return found.map(({ token, sumOf }) => ({ offset: layout.sumAt(rank, token), bytes, sumOf }));
}

/** What the rank adds up when a slice has come back; its own experts' vectors lie in its source buffer. */
export function sumParts(layout: MoeLayout, rank: number, slice: number): SumPart[] {
  const { combineBytes: bytes } = layout.layer;
  const parts: { into: number; bytes: number; from: SumPart['from'][number][] }[] = [];
  eachCopy(layout, rank, [slice, slice + 1], (token, host, n, weight) => {
    const into = layout.sumAt(rank, token);
    if (parts.at(-1)?.into !== into) parts.push({ into, bytes, from: [] });
    const own = { buffer: 'source', offset: layout.returnedAt(rank, host, n), weight } as const;
    const other = { buffer: 'target', offset: layout.cameBackAt(rank, host, n), weight } as const;
    parts.at(-1)!.from.push(host === rank ? own : other);
  });
  return parts;
}
