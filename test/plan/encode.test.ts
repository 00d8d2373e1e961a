import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodePlan } from '../../src/plan/encode.js';
import { pingPong } from '../../src/plan/patterns/ping-pong.js';
import { maxSlot, type Plan, type Step } from '../../src/plan/plan.js';
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

const bareStep = fc.oneof(
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
  version: fc.constant(1 as const),
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
    expect([...header.subarray(0, 9)]).toEqual([1, 1, 2, 1, 16, 1, 2, 7, 1]);
    expect([...fields]).toEqual([
      ...[2, 0, 0, 1, 0, 100, 0, 0, 0, 0, 0, 0], // recv into the target buffer
      ...[1, 0, 0, 0, 0, 100, 0, 0, 0, 1, 0, 0], // send from the source buffer, after step 0
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
    expect([...fields]).toEqual([0, 3, 1, 0, 64, 5, 2 ** 40, maxSlot, 0, 0, 0, 0]);
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

  test('of another version is not decoded', () => {
    const encoded = encodePlan(pingPong({ rank: 0, world: 2, a: 0, b: 1, bytes: 1 }));
    encoded.header[0] = 2;
    expect(() => decodePlan(encoded)).toThrow('version 2');
  });
});
