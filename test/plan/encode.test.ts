import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodePlan } from '../../src/plan/encode.js';
import { pingPong } from '../../src/plan/patterns/ping-pong.js';
import { maxSlot, type Plan, planVersion, type Step, sumDtypes } from '../../src/plan/plan.js';
import { decodePlan } from './decode-plan.js';

const bytes = fc.maxSafeNat();
const rank = fc.integer({ min: 0, max: 32_767 });
const slot = fc.integer({ min: 0, max: maxSlot });
const channel = fc.integer({ min: 0, max: 15 });
const postSlice = fc.record({
  buffer: fc.constantFrom('source' as const, 'target' as const),
  offset: bytes,
  bytes,
});
const copies = fc
  .record({
    from: fc.constantFrom('source' as const, 'sourceDevice' as const),
    to: fc.constantFrom('target' as const, 'targetDevice' as const),
    bytes,
    fromOffset: bytes,
    toOffset: bytes,
  })
  .map(({ from, to, bytes: length, fromOffset, toOffset }) => ({
    kind: 'copy' as const,
    from: { buffer: from, offset: fromOffset, bytes: length },
    to: { buffer: to, offset: toOffset, bytes: length },
  }));

const small = fc.integer({ min: 0, max: 2 ** 40 });
const transferParts = fc.array(fc.record({ local: small, remote: small, bytes: small }), {
  minLength: 1,
  maxLength: 4,
});
const total = (parts: readonly { bytes: number }[]) =>
  parts.reduce((sum, part) => sum + part.bytes, 0);
const access = fc
  .record({ channel, peer: rank, parts: transferParts, buffer: postSlice, slot })
  .chain(({ parts, buffer, slot: number, ...rest }) => {
    const local = { buffer: buffer.buffer, offset: parts[0]!.local, bytes: total(parts) };
    const remote = { offset: parts[0]!.remote };
    const base = { ...rest, kind: 'post' as const, local, remote, parts };
    return fc.constantFrom(
      { ...base, op: 'write' as const, slot: number },
      { ...base, op: 'read' as const },
    );
  });
const waitInParts = fc
  .record({ source: rank, slot, parts: transferParts })
  .map(({ parts, ...rest }) => {
    const ranges = parts.map(({ remote: offset, bytes: length }) => ({ offset, bytes: length }));
    const whole = { offset: ranges[0]!.offset, bytes: total(ranges) };
    return { kind: 'wait' as const, ...rest, ...whole, parts: ranges };
  });
const sums = fc.record(
  {
    kind: fc.constant('sum' as const),
    dtype: fc.constantFrom(...sumDtypes),
    device: fc.constant(true as const),
    parts: fc.array(
      fc.record({
        into: bytes,
        bytes,
        from: fc.array(
          fc.record({
            buffer: fc.constantFrom('source' as const, 'target' as const),
            offset: bytes,
            weight: fc.float(),
          }),
          { minLength: 1, maxLength: 3 },
        ),
      }),
      { minLength: 1, maxLength: 3 },
    ),
  },
  { requiredKeys: ['kind', 'dtype', 'parts'] },
);

const bareStep = fc.oneof(
  access,
  waitInParts,
  sums,
  fc.record(
    { kind: fc.constant('join' as const), notBefore: fc.integer({ min: 1, max: 2 ** 40 }) },
    { requiredKeys: ['kind'] },
  ),
  fc.record({
    kind: fc.constant('post' as const),
    op: fc.constant('read' as const),
    channel,
    peer: rank,
    local: postSlice,
    remote: fc.record({ offset: bytes }),
  }),
  fc.record({
    kind: fc.constant('post' as const),
    op: fc.constant('write' as const),
    channel,
    peer: rank,
    local: postSlice,
    remote: fc.record({ offset: bytes }),
    slot,
  }),
  fc.record({
    kind: fc.constant('post' as const),
    op: fc.constantFrom('send' as const, 'recv' as const),
    channel,
    peer: rank,
    local: postSlice,
  }),
  fc.record({ kind: fc.constant('wait' as const), source: rank, slot, offset: bytes, bytes }),
  copies,
);

/** Steps that name a few of the steps before them. */
const steps: fc.Arbitrary<Step[]> = fc
  .array(fc.tuple(bareStep, fc.array(fc.nat(), { maxLength: 3 })), { maxLength: 12 })
  .map((all) =>
    all.map(([step, after], index) => ({
      ...step,
      after: index === 0 ? [] : after.map((number) => number % index),
    })),
  );

const arbitraryPlan: fc.Arbitrary<Plan> = fc.record({
  version: fc.constant(planVersion),
  rank,
  world: fc.integer({ min: 1, max: 32_768 }),
  channels: fc.integer({ min: 1, max: 16 }),
  chunkBytes: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  window: fc.integer({ min: 1, max: 4096 }),
  delivery: fc.constantFrom('complete' as const, 'transmit' as const),
  sourceBytes: bytes,
  targetBytes: bytes,
  steps,
});

describe('an encoded plan', () => {
  test('decodes to the plan it was made from', () => {
    fc.assert(
      fc.property(arbitraryPlan, (plan) => {
        expect(decodePlan(encodePlan(plan))).toEqual(plan);
      }),
    );
  });

  test('has the fields the addon reads, in their places', () => {
    const plan = pingPong({ rank: 1, world: 2, a: 0, b: 1, bytes: 100, chunkBytes: 2 ** 32 + 7 });
    const { header, steps: fields, after } = encodePlan(plan);
    expect([...header.subarray(0, 9)]).toEqual([2, 1, 2, 1, 16, 1, 2, 7, 1]);
    expect([...fields]).toEqual([
      ...[2, 0, 0, 1, 0, 100, 0, 0, 0, 0, 0, 0, 0], // recv into the target buffer
      ...[1, 0, 0, 0, 0, 100, 0, 0, 0, 1, 0, 0, 0], // send from the source buffer, after step 0
    ]);
    expect([...after]).toEqual([0]);
  });

  test('gives a write its remote offset and slot', () => {
    const plan = pingPong({ rank: 0, world: 2, a: 0, b: 1, bytes: 1 });
    const write: Step = {
      kind: 'post',
      op: 'write',
      channel: 3,
      peer: 1,
      local: { buffer: 'source', offset: 64, bytes: 5 },
      remote: { offset: 2 ** 40 },
      slot: maxSlot,
      after: [],
    };
    const { steps: fields } = encodePlan({ ...plan, steps: [write] });
    expect([...fields]).toEqual([0, 3, 1, 0, 64, 5, 2 ** 40, maxSlot, 0, 0, 0, 0, 0]);
  });

  test('is refused when a step comes after itself', () => {
    const plan = pingPong({ rank: 1, world: 2, a: 0, b: 1, bytes: 1 });
    const steps = plan.steps.map((step) => ({ ...step, after: [1] }));
    expect(() => encodePlan({ ...plan, steps })).toThrow(TypeError);
  });

  test('is refused when a copy changes length', () => {
    const plan = pingPong({ rank: 1, world: 2, a: 0, b: 1, bytes: 1 });
    const from = { buffer: 'source', offset: 0, bytes: 1 } as const;
    const copy: Step = { kind: 'copy', from, to: { ...from, bytes: 2 }, after: [] };
    expect(() => encodePlan({ ...plan, steps: [copy] })).toThrow('differ in length');
  });

  test('is refused when the parts of a copy are not what its slices say', () => {
    const plan = pingPong({ rank: 1, world: 2, a: 0, b: 1, bytes: 1 });
    const slice = { buffer: 'source', offset: 8, bytes: 5 } as const;
    const parts = [
      { from: 8, to: 8, bytes: 3 },
      { from: 40, to: 20, bytes: 2 },
    ];
    const copy: Step = { kind: 'copy', from: slice, to: slice, parts, after: [] };
    const encode = (change: Partial<typeof copy>) => () =>
      encodePlan({ ...plan, steps: [{ ...copy, ...change }] });
    expect(encode({})).not.toThrow();
    expect(encode({ parts: parts.slice(1) })).toThrow('not that of its first part');
    expect(encode({ to: { ...slice, offset: 0 } })).toThrow('not that of its first part');
    expect(encode({ parts: parts.slice(0, 1) })).toThrow('have 3 bytes, and the step 5');
    expect(encode({ parts: [] })).toThrow('0 parts');
  });

  describe('in parts', () => {
    const plan = pingPong({ rank: 1, world: 2, a: 0, b: 1, bytes: 1 });
    const parts = [
      { local: 8, remote: 16, bytes: 3 },
      { local: 0, remote: 64, bytes: 4 },
    ];
    const read: Step = {
      ...{ kind: 'post', op: 'read', channel: 0, peer: 0, after: [] },
      local: { buffer: 'target', offset: 8, bytes: 7 },
      remote: { offset: 16 },
      parts,
    };
    const encode = (step: object) => encodePlan({ ...plan, steps: [{ ...read, ...step } as Step] });

    test('has a row of three numbers for each', () => {
      expect([...encode({}).parts]).toEqual([8, 16, 3, 0, 64, 4]);
    });

    test.each([
      ['none at all', { parts: [] }, '0 parts'],
      ['more bytes', { local: { ...read.local, bytes: 6 } }, '7 bytes, and the step 6'],
      ['another start', { local: { ...read.local, offset: 0 } }, 'offset of a step is not'],
      ['another remote start', { remote: { offset: 0 } }, 'remote offset of a step is not'],
    ])('is refused with %s', (_, wrong, message) => {
      expect(() => encode(wrong)).toThrow(message);
    });
  });

  test('of another version is not decoded', () => {
    const encoded = encodePlan(pingPong({ rank: 0, world: 2, a: 0, b: 1, bytes: 1 }));
    encoded.header[0] = 1;
    expect(() => decodePlan(encoded)).toThrow('version 1');
  });
});
