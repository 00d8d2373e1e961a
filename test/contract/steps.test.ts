import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { seededRandom } from '../../src/measure/seeded-random.js';
import { encodePlan } from '../../src/plan/encode.js';
import {
  type Plan,
  planVersion,
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

const bytes = 2 ** 20;
const random = seededRandom(18);
const upTo = (most: number) => Math.floor(random() * (most + 1));

const planOf = (rank: number, steps: readonly Step[], how: Partial<Plan> = {}): Plan => ({
  ...{ version: planVersion, rank, world: 2, channels: 1, chunkBytes: 4096, window: 8 },
  ...{ delivery: 'complete', sourceBytes: bytes, targetBytes: bytes, steps, ...how },
});

/** Parts of odd lengths, of which some are empty, that overlap neither here nor there. */
function scatteredParts(count: number): TransferPart[] {
  const room = Math.floor(bytes / count);
  const places = () =>
    Array.from({ length: count }, (_, i) => i * room)
      .map((place) => ({ place, key: random() }))
      .sort((a, b) => a.key - b.key)
      .map(({ place }) => place);
  const [locals, remotes] = [places(), places()];
  return locals.map((local, i) => ({
    local: local + upTo(64),
    remote: remotes[i]! + upTo(64),
    bytes: i % 50 === 49 ? 0 : 1 + upTo(room - 130),
  }));
}

const total = (parts: readonly { readonly bytes: number }[]) =>
  parts.reduce((sum, part) => sum + part.bytes, 0);

const readOf = (peer: number, parts: readonly TransferPart[], after: number[] = []): Step => ({
  ...{ kind: 'post', op: 'read', channel: 0, peer, parts, after },
  local: { buffer: 'target', offset: parts[0]!.local, bytes: total(parts) },
  remote: { offset: parts[0]!.remote },
});

const writeOf = (peer: number, parts: readonly TransferPart[], slot = 0): Step => ({
  ...{ kind: 'post', op: 'write', channel: 0, peer, parts, slot, after: [] },
  local: { buffer: 'source', offset: parts[0]!.local, bytes: total(parts) },
  remote: { offset: parts[0]!.remote },
});

const waitOf = (source: number, all: readonly TransferPart[], slot = 0): Step => {
  const parts = all.map(({ remote: offset, bytes: length }) => ({ offset, bytes: length }));
  return {
    ...{ kind: 'wait', source, slot, after: [], parts },
    ...{ offset: parts[0]!.offset, bytes: total(parts) },
  };
};

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
  const run = (steps: readonly (readonly Step[])[], how: Partial<Plan> = {}, iterations = 3) =>
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
    await run([[readOf(1, there)], [readOf(0, back)]], { chunkBytes: 1000 });
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
      { chunkBytes: 1000 },
    );
    expectParts(target(1), source(0), there);
    expectParts(target(0), source(1), back);
  });

  test('a join is done when all that it names is', async () => {
    const all = scatteredParts(120);
    const writes = all.map((part, slot) => writeOf(1, [part], slot));
    const waits = all.map((part, slot) => waitOf(0, [part], slot));
    const last = { local: bytes - 64, remote: 0, bytes: 64 };
    const join: Step = { kind: 'join', after: [...waits.keys()] };
    const second: Step = { kind: 'join', after: [waits.length] };
    await run([writes, [...waits, join, second, readOf(0, [last], [waits.length + 1])]]);
    expectParts(target(1).subarray(0, bytes - 64), source(0), all);
    expect(target(1).subarray(bytes - 64)).toEqual(source(0).subarray(0, 64));
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

describe('a wrong plan', () => {
  let ranks: RanksInProcess;
  beforeAll(async () => {
    ranks = await RanksInProcess.open({ ranks: 2, provider: 'shm', channels: 1, bytes });
  });
  afterAll(() => ranks[Symbol.asyncDispose]());

  const good = () => ({
    write: encodePlan(planOf(0, [writeOf(0, scatteredParts(3))])),
    wait: encodePlan(planOf(0, [waitOf(0, scatteredParts(3))])),
    sum: encodePlan(
      planOf(0, [
        {
          ...{ kind: 'sum', dtype: 'float32', after: [] },
          parts: [
            {
              into: 0,
              bytes: 64,
              from: [
                { buffer: 'target', offset: 64 },
                { buffer: 'source', offset: 0 },
              ],
            },
          ],
        },
      ]),
    ),
  });
  const change = (
    of: keyof ReturnType<typeof good>,
    array: 'steps' | 'parts',
    index: number,
    to: number,
  ) => {
    const plan = good()[of];
    plan[array][index] = to;
    return plan;
  };

  test.each([
    [
      'a part outside the buffer',
      change('write', 'parts', 0, bytes),
      'a part of a step is outside',
    ],
    [
      'a part that is too long',
      change('write', 'parts', 2, 2 ** 52),
      'a part of a step is outside',
    ],
    ['a part of half a byte', change('write', 'parts', 2, 0.5), 'malformed'],
    ['parts outside the array', change('write', 'steps', 12, 4), 'malformed'],
    ['parts before the array', change('write', 'steps', 11, -1), 'malformed'],
    ['fewer bytes than its parts', change('write', 'steps', 5, 7), 'longer than the step'],
    ['more bytes than its parts', change('wait', 'steps', 5, 2 ** 50), 'shorter than the step'],
    [
      'a wait outside the buffer',
      change('wait', 'parts', 0, bytes + 1),
      'a part of a step is outside',
    ],
    ['an unknown dtype', change('sum', 'steps', 1, 4), 'unknown dtype'],
    ['a sum outside the buffer', change('sum', 'parts', 0, bytes), 'a part of a sum is outside'],
    ['a sum across numbers', change('sum', 'parts', 1, 62), 'between two numbers'],
    ['a sum of nothing', change('sum', 'parts', 2, 0), 'nothing to add'],
    ['a sum of too much', change('sum', 'parts', 2, 3), 'malformed'],
    ['a sum from an unknown buffer', change('sum', 'parts', 3, 2), 'a part of a sum is outside'],
    ['a sum over its addend', change('sum', 'parts', 4, 32), 'overlaps what it adds'],
    ['an unknown step', change('sum', 'steps', 0, 8), 'malformed'],
    ['a sum without parts', change('sum', 'steps', 12, 0), 'no parts'],
  ])('with %s is refused', async (_, plan, message) => {
    await expect(ranks.runEncoded(0, plan)).rejects.toThrow(message);
  });

  test('with too many parts is refused', async () => {
    const plan = good().write;
    const parts = new Float64Array(3 * (2 ** 20 + 1));
    plan.steps[12] = 2 ** 20 + 1;
    await expect(ranks.runEncoded(0, { ...plan, parts })).rejects.toThrow(
      'more than 1048576 parts',
    );
  });

  test('with a step after a later one is refused', async () => {
    const plan = encodePlan(
      planOf(0, [
        { kind: 'join', after: [] },
        { kind: 'join', after: [0] },
      ]),
    );
    plan.after[0] = 1;
    await expect(ranks.runEncoded(0, plan)).rejects.toThrow('not earlier');
  });

  test('with weights of int32 is refused', async () => {
    const plan = change('sum', 'parts', 5, 2);
    plan.steps[1] = 3;
    await expect(ranks.runEncoded(0, plan)).rejects.toThrow('int32 has weights');
  });

  test('that reads is refused where ranks did not exchange their source buffers', async () => {
    const plan = encodePlan(planOf(0, [readOf(1, scatteredParts(2))]));
    const refused = ranks.runEncoded(0, plan, { readable: undefined } as object);
    await expect(refused).rejects.toThrow('did not exchange their source buffers');
  });

  test('with any wrong number is refused or harmless', async () => {
    await using alone = await RanksInProcess.open({
      ranks: 1,
      provider: 'shm',
      channels: 1,
      bytes,
    });
    const values = [-1, 0.5, NaN, Infinity, 7, 2 ** 31, 2 ** 32, 2 ** 52, 2 ** 53, 2 ** 64, 1e300];
    for (const kind of ['write', 'wait', 'sum'] as const) {
      for (const array of ['steps', 'parts'] as const) {
        for (let i = 0; i < good()[kind][array].length; i++) {
          for (const value of values) {
            const plan = change(kind, array, i, value);
            plan.header[2] = 1; // a world of its own
            const iterations = kind === 'sum' ? 1 : 0;
            // Some places take any number: remote offsets, weights, and fields that the kind does not use.
            await alone
              .runEncoded(0, plan, { iterations })
              .catch((error: Error) =>
                expect(error.message).toMatch(/a step|a part|the part|a sum|malformed/),
              );
          }
        }
      }
    }
  });

  test('of a million joins in a row runs', async () => {
    const joins = Array.from(
      { length: 1_000_000 },
      (_, i): Step => ({ kind: 'join', after: i === 0 ? [] : [i - 1] }),
    );
    await ranks.run((rank) => planOf(rank, rank === 0 ? joins : []));
  });
});
