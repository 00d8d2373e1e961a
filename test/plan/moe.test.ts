import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { moeTraffic } from '../../src/plan/patterns/moe.js';
import { type MoeLayer, MoeLayout } from '../../src/plan/patterns/moe-layout.js';
import { moePlan } from '../../src/plan/patterns/moe-plan.js';
import { isWrite, type Plan } from '../../src/plan/plan.js';
import { stagedPlan } from '../../src/plan/staged.js';
import { single } from '../../src/plan/strategies.js';
import { contentsOf, type Traffic } from '../../src/plan/traffic.js';
import type { WritePlanOptions } from '../../src/plan/write-plan.js';
import { arbitraryStrategy, ranksOf } from './arbitrary.js';
import { arbitraryDraw, routingOf, usual } from './drawn-routing.js';
import { Interpreter } from './interpreter.js';
import { addUp } from './numbers.js';
import { bytesToSend } from './source-bytes.js';

const arbitraryLayer: fc.Arbitrary<MoeLayer> = fc
  .record({
    drawn: arbitraryDraw(6, 3),
    dispatchBytes: fc.integer({ min: 1, max: 70 }),
    numbers: fc.integer({ min: 1, max: 9 }),
    phase: fc.constantFrom('dispatch' as const, 'combine' as const, 'both' as const),
    microBatches: fc.integer({ min: 1, max: 2 }),
    slices: fc.integer({ min: 1, max: 2 }),
  })
  .map(({ drawn, numbers, ...rest }) => ({
    ...rest,
    combineBytes: 2 * numbers,
    routing: routingOf(drawn),
  }));

const arbitrarySpread: fc.Arbitrary<Omit<WritePlanOptions, 'rank'> & { overlap: boolean }> =
  fc.record({
    strategy: arbitraryStrategy,
    channels: fc.integer({ min: 1, max: 3 }),
    chunkBytes: fc.integer({ min: 20, max: 300 }),
    window: fc.integer({ min: 1, max: 4 }),
    overlap: fc.boolean(),
  });

/** What the contents of a traffic say that a rank's target holds, made from what the ranks' plans send. */
function expected(traffic: Traffic, rank: number, sources: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(sources.reduce((sum, one) => sum + one.length, 0));
  const starts: number[] = [];
  sources.reduce((at, one) => {
    all.set(one, at);
    starts.push(at);
    return at + one.length;
  }, 0);
  const target = new Uint8Array(traffic.targetBytes(rank)).fill(0xee);
  for (const content of contentsOf(traffic, rank)) {
    const { offset: into, bytes } = content;
    if ('copyOf' in content) {
      const from = starts[content.copyOf.rank]! + content.copyOf.offset;
      target.set(all.subarray(from, from + bytes), into);
      continue;
    }
    const from = content.sumOf.map(({ rank: of, offset, weight = 1 }) => ({
      buffer: 'source' as const,
      offset: starts[of]! + offset,
      weight,
    }));
    addUp('bfloat16', { into, bytes, from }, { source: all, target });
  }
  return target;
}

describe('an expert layer', () => {
  test('leaves every token and every sum where it says, in any order of arrival', () => {
    fc.assert(
      fc.property(arbitraryLayer, arbitrarySpread, fc.nat(), (layer, spread, seed) => {
        const layout = new MoeLayout(layer);
        const traffic = moeTraffic(layout);
        const plans = ranksOf(traffic).map((rank) => moePlan(layout, { ...spread, rank }));
        const interpreter = new Interpreter(plans, seed, 2);
        const sources = interpreter.ranks.map(({ buffers }) => buffers.source);
        interpreter.run();
        for (const { target, plan } of interpreter.ranks) {
          const wanted = expected(traffic, plan.rank, sources);
          for (const { offset, bytes } of contentsOf(traffic, plan.rank)) {
            const part = (of: Uint8Array) => of.slice(offset, offset + bytes);
            expect(part(target)).toEqual(part(wanted));
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  test('staged, leaves them on the device, in the iteration in which they were sent', () => {
    const pieces = fc.integer({ min: 1, max: 300 });
    fc.assert(
      fc.property(
        arbitraryLayer,
        arbitrarySpread,
        pieces,
        fc.nat(),
        (layer, spread, piece, seed) => {
          const layout = new MoeLayout(layer);
          const traffic = moeTraffic(layout);
          const plans = ranksOf(traffic).map((rank) =>
            stagedPlan(moePlan(layout, { ...spread, rank }), piece),
          );
          new Interpreter(plans, seed, 2).run(({ buffers, plan, iteration }) => {
            const sources = plans.map((one) => bytesToSend(one, iteration));
            const wanted = expected(traffic, plan.rank, sources);
            for (const { offset, bytes } of contentsOf(traffic, plan.rank)) {
              const part = (of: Uint8Array) => of.slice(offset, offset + bytes);
              expect(part(buffers.targetDevice)).toEqual(part(wanted));
            }
          });
        },
      ),
      { numRuns: 60 },
    );
  });

  test('dispatches each token once to each other rank with an expert of it', () => {
    fc.assert(
      fc.property(arbitraryDraw(40), (drawn) => {
        const routing = routingOf(drawn);
        const layout = new MoeLayout({ ...bare, routing, phase: 'dispatch' });
        const traffic = moeTraffic(layout);
        for (const rank of ranksOf(traffic)) {
          const { starts, experts, count } = routing.tokens[rank]!;
          const wanted = Array.from({ length: count }, (_, token) => {
            const own = [...experts.subarray(starts[token], starts[token + 1])];
            const hosts = own.map((expert) => routing.hostOf[expert]!);
            return new Set(hosts.filter((host) => host !== rank));
          });
          const sent: Set<number>[] = wanted.map(() => new Set());
          let copies = 0;
          for (const { target, parts = [] } of traffic.outgoing(rank)) {
            for (const { sourceOffset, bytes } of parts) {
              for (let at = sourceOffset; at < sourceOffset + bytes; at += bare.dispatchBytes) {
                sent[at / bare.dispatchBytes]!.add(target);
                copies++;
              }
            }
          }
          expect(sent).toEqual(wanted);
          expect(copies).toBe(wanted.reduce((sum, one) => sum + one.size, 0));
        }
      }),
    );
  });

  test('weighs all experts of a token with 1 together', () => {
    fc.assert(
      fc.property(arbitraryDraw(20), (drawn) => {
        const traffic = moeTraffic(new MoeLayout({ ...bare, routing: routingOf(drawn) }));
        for (const rank of ranksOf(traffic)) {
          const contents = contentsOf(traffic, rank);
          expect(contents).toHaveLength(drawn.tokens);
          for (const content of contents) {
            if (!('sumOf' in content)) throw new Error('a sum was expected');
            expect(content.sumOf.reduce((sum, { weight = 1 }) => sum + weight, 0)).toBe(1);
            for (const { weight = 1 } of content.sumOf) expect((weight * 16) % 1).toBe(0);
          }
        }
      }),
    );
  });

  test('returns nothing before the tokens of its micro-batch have arrived', () => {
    const routing = routingOf({ ...usual, world: 3, tokens: 24, seed: 5 });
    const layout = new MoeLayout({ ...bare, routing, phase: 'both', microBatches: 2 });
    const plan = moePlan(layout, { rank: 1, channels: 1, strategy, overlap: false });
    const writes = plan.steps.filter(isWrite);
    const back = writes.filter(({ local }) => local.offset >= layout.returns(1).offset);
    expect(back).toHaveLength(4);
    for (const write of back) {
      const batch = (write.slot - 2) % 2;
      const awaited = new Set(waitsBefore(plan, write.after));
      // One from each of the two other ranks, and both of the micro-batch before with what came back of it.
      expect(awaited.size).toBe(batch === 0 ? 2 : 6);
    }
  });

  test('overlaps by dispatching before the sums of the micro-batch before', () => {
    const routing = routingOf({ ...usual, world: 3, tokens: 24, seed: 5 });
    const layout = new MoeLayout({ ...bare, routing, phase: 'both', microBatches: 2 });
    const gates = [false, true].map((overlap) => {
      const plan = moePlan(layout, { rank: 0, channels: 1, strategy, overlap });
      const second = plan.steps.filter(isWrite).find(({ slot }) => slot === 1)!;
      return waitsBefore(plan, second.after).length;
    });
    expect(gates).toEqual([4, 2]);
  });

  test('of 512 ranks has a plan that stays small', () => {
    const routing = routingOf({ ...usual, world: 512, tokens: 8, experts: 512, seed: 1 });
    const layout = new MoeLayout({ ...bare, routing, phase: 'both', microBatches: 2 });
    const { steps } = moePlan(layout, { rank: 7, channels: 16, strategy, overlap: true });
    const after = steps.reduce((sum, step) => sum + step.after.length, 0);
    expect(after).toBeLessThan(4 * steps.length);
  });
});

const bare = {
  dispatchBytes: 64,
  combineBytes: 128,
  phase: 'combine',
  microBatches: 1,
  slices: 1,
} as const;
const strategy = single;

/** The waits that must be over before steps that come after these. */
function waitsBefore({ steps }: Plan, after: readonly number[]): number[] {
  return [...new Set(after.flatMap((index) => reached(steps, index)))];
}

const reached = (steps: Plan['steps'], index: number): number[] => [
  ...(steps[index]!.kind === 'wait' ? [index] : []),
  ...steps[index]!.after.flatMap((earlier) => reached(steps, earlier)),
];
