import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type Plan,
  type ReadStep,
  type Step,
  type SumDtype,
  type SumPart,
  type SumStep,
  sumDtypes,
  type TransferPart,
} from '../../src/plan/plan.js';
import { RanksInProcess } from '../engine/ranks-in-process.js';
import { addUp, numbers, viewOf } from '../plan/numbers.js';
import { providers } from './pair.js';
import {
  bytes,
  planOf,
  random,
  readOf,
  scatteredParts,
  upTo,
  waitOf,
  writeOf,
} from './plan-steps.js';

/** What a target holds after parts came into it: nothing else has changed. */
function expectParts(target: Uint8Array, source: Uint8Array, parts: readonly TransferPart[]): void {
  const expected = new Uint8Array(target.length).fill(stale);
  for (const { local, remote, bytes: length } of parts) {
    expected.set(source.subarray(local, local + length), remote);
  }
  expect(Buffer.compare(target, expected)).toBe(0);
}

const reversed = (parts: readonly TransferPart[]): TransferPart[] =>
  parts.map(({ local, remote, bytes: length }) => ({
    local: remote,
    remote: local,
    bytes: length,
  }));

const stale = 0xee;

const weights: Readonly<Record<SumDtype, readonly number[]>> = {
  float32: [1, 0.1, -2.5],
  float16: [1, 0.3, -1.5],
  bfloat16: [0.7, 1, -0.25],
  int32: [1, 1, 1],
};

/** Ordinary numbers of all sizes, and at the start those at which rounding, overflow and NaN show. */
function fillNumbers(view: DataView, dtype: SumDtype): void {
  const { put, bytes: each } = numbers[dtype];
  const special = [Number.NaN, Infinity, -Infinity, 65_520, 65_519, -0, 2 ** -24, 2 ** -25, 3e38];
  for (let i = 0; i * each < view.byteLength; i++) {
    const ordinary = (random() - 0.5) * 2 ** (upTo(34) - 18);
    const value = dtype === 'int32' ? (random() - 0.5) * 2 ** 32 : (special[i] ?? ordinary);
    put(view, i * each, value);
  }
}

/** Bit by bit, but for NaN, which has many patterns. */
function expectNumbers(found: Uint8Array, expected: Uint8Array, dtype: SumDtype): void {
  const { get, bytes: each } = numbers[dtype];
  const [foundView, expectedView] = [viewOf(found), viewOf(expected)];
  for (let at = 0; at < expected.length; at += each) {
    const [one, other] = [get(foundView, at), get(expectedView, at)];
    if (!Object.is(one, other)) throw new Error(`${dtype} at ${at}: ${one} instead of ${other}`);
  }
}

describe.each(providers)('$name', ({ options }) => {
  let ranks: RanksInProcess;
  const source = (rank: number) => ranks.sources[rank]!.view();
  const target = (rank: number) => ranks.targets[rank]!.view();
  const run = (steps: readonly (readonly Step[])[], how: Partial<Plan> = {}, iterations = 2) =>
    ranks.run((rank) => planOf(rank, steps[rank]!, how), { iterations });

  beforeAll(async () => {
    const { provider = '', ...how } = options;
    ranks = await RanksInProcess.open({ ...how, provider, ranks: 2, channels: 1, bytes });
    for (const [rank, buffer] of ranks.sources.entries()) await buffer.fill(rank + 1);
  });
  beforeEach(() => {
    for (const rank of [0, 1]) target(rank).fill(stale);
  });
  afterAll(() => ranks[Symbol.asyncDispose]());

  test('a read brings a stretch of the peer’s source buffer', async () => {
    const part = { local: 4097, remote: 333, bytes: 100_001 };
    const { parts: _, ...read } = readOf(1, [part]) as ReadStep;
    await run([[read], []]);
    expectParts(target(0), source(1), reversed([part]));
  });

  test('reads of 300 parts bring every byte, in both directions at once', async () => {
    const [there, back] = [scatteredParts(300), scatteredParts(300)];
    await run([[readOf(1, there)], [readOf(0, back)]], { chunkBytes: 2500 });
    expectParts(target(0), source(1), reversed(there));
    expectParts(target(1), source(0), reversed(back));
  });

  test('writes of 300 parts bring every byte, in both directions at once', async () => {
    const [there, back] = [scatteredParts(300), scatteredParts(300)];
    await run(
      [
        [writeOf(1, there), waitOf(1, back)],
        [writeOf(0, back), waitOf(0, there)],
      ],
      { chunkBytes: 2500 },
    );
    expectParts(target(1), source(0), there);
    expectParts(target(0), source(1), back);
  });

  // The peer holds one write back until all others have arrived. What follows the join adds its bytes to a total and
  // then wipes them, so a join that ends early in any iteration adds something else.
  test.each([0, 5, 11])('a join of 12 waits is not done before number %i is', async (held) => {
    const at = (i: number) => ({ local: i * 1024, remote: i * 1024, bytes: 1024 });
    const all = Array.from({ length: 12 }, (_, i) => i);
    const [waits, writes] = [
      all.map((i) => waitOf(0, [at(i)], i)),
      all.map((i) => ({ ...writeOf(1, [at(i)], i), after: i === held ? [0] : [] })),
    ];
    const { local: piece, bytes: length } = at(held);
    const total = { buffer: 'target' as const, offset: bytes / 2 };
    const parts: SumPart[] = [
      { into: total.offset, bytes: length, from: [total, { buffer: 'target', offset: piece }] },
      { into: piece, bytes: length, from: [{ buffer: 'source', offset: 0 }] },
    ];
    const rank1: Step[] = [
      ...waits,
      { ...writeOf(0, [at(0)]), after: all.filter((i) => i !== held) },
      { kind: 'join', after: all },
      { kind: 'join', after: [13] },
      { kind: 'sum', dtype: 'int32', parts, after: [14] },
    ];
    await run([[waitOf(1, [at(0)]), ...writes], rank1], {}, 3);
    const [sent, sums] = [viewOf(source(0)), viewOf(target(1))];
    const before = viewOf(new Uint8Array(4).fill(stale)).getInt32(0, true);
    for (let i = 0; i < length; i += 4) {
      const sum = (before + Math.imul(3, sent.getInt32(piece + i, true))) | 0;
      expect(sums.getInt32(total.offset + i, true)).toBe(sum);
    }
  });

  test.each(sumDtypes)('numbers of %s are added in order and rounded once', async (dtype) => {
    const length = 8192;
    const sent = source(0).slice(0, 4 * length);
    fillNumbers(viewOf(source(0).subarray(0, 2 * length)), dtype);
    fillNumbers(viewOf(target(0).subarray(0, length)), dtype);
    const [a, b, c] = weights[dtype] as [number, number, number];
    const own = { buffer: 'target' as const, offset: 0, weight: a };
    const parts: SumPart[] = [
      {
        ...{ into: length, bytes: length - 8 },
        from: [
          own,
          { buffer: 'source', offset: 0, weight: b },
          { buffer: 'source', offset: length, weight: c },
        ],
      },
      { into: 0, bytes: length, from: [own, { buffer: 'source', offset: length }] },
      { into: 3 * length, bytes: 0, from: [{ buffer: 'source', offset: 0 }] },
      { into: 3 * length, bytes: 12, from: [{ buffer: 'target', offset: 2 * length - 12 }] },
    ];
    const expected = { source: source(0).slice(), target: target(0).slice() };
    for (const part of parts) addUp(dtype, part, expected);
    await run([[{ kind: 'sum', dtype, parts, after: [] }], []], {}, 1);
    expectNumbers(target(0), expected.target, dtype);
    source(0).set(sent);
  });

  test('what arrives is added while other transfers are under way', async () => {
    const half = bytes / 2;
    const piece = half / 16;
    const at = (i: number): TransferPart => ({ local: i * piece, remote: i * piece, bytes: piece });
    const pieces = Array.from({ length: 16 }, (_, i) => i);
    const sums = pieces.map((i): SumStep => {
      const from = [
        { buffer: 'target' as const, offset: i * piece },
        { buffer: 'source' as const, offset: i * piece },
      ];
      const parts = [{ into: half + i * piece, bytes: piece, from }];
      return { kind: 'sum', dtype: 'int32', parts, after: [16 + i] };
    });
    const steps = (peer: number): Step[] => [
      ...pieces.map((i) => writeOf(peer, [at(i)], i)),
      ...pieces.map((i) => waitOf(peer, [at(i)], i)),
      ...sums,
    ];
    await run([steps(1), steps(0)], { chunkBytes: 10_000 });
    const [first, second] = [0, 1].map((rank) => viewOf(source(rank)));
    const view = viewOf(target(0));
    for (let i = 0; i < half; i += 4) {
      const sum = (first!.getInt32(i, true) + second!.getInt32(i, true)) | 0;
      if (view.getInt32(half + i, true) !== sum) throw new Error(`wrong at ${i}`);
    }
    expect(Buffer.compare(target(1).subarray(half), target(0).subarray(half))).toBe(0);
  });
});
