import fc from 'fast-check';
import { expect, test } from 'vitest';
import { moeAroundCall } from '../../src/plan/patterns/moe-around-call.js';
import { MoeLayout } from '../../src/plan/patterns/moe-layout.js';
import { moePlan } from '../../src/plan/patterns/moe-plan.js';
import type { SumStep } from '../../src/plan/plan.js';
import { single } from '../../src/plan/strategies.js';
import { arbitraryDraw, routingOf } from './drawn-routing.js';
import { Interpreter } from './interpreter.js';

const how = { channels: 1, strategy: single };
const layer = { combineBytes: 6, microBatches: 1, slices: 1 };

test('packing leaves the tokens for each other rank one after the other, as alltoallv sends them', () => {
  const bytes = fc.constantFrom(4, 8, 12);
  fc.assert(
    fc.property(arbitraryDraw(8, 4), bytes, fc.nat(), (drawn, dispatchBytes, seed) => {
      const routing = routingOf(drawn);
      const layout = new MoeLayout({ ...layer, routing, dispatchBytes, phase: 'dispatch' });
      const around = moeAroundCall(layout)!;
      expect(around.what).toBe('packing');
      const plans = routing.tokens.map((_, rank) => around.plan({ ...how, rank }));
      const interpreter = new Interpreter(plans, seed, 1);
      interpreter.run();
      interpreter.ranks.forEach(({ buffers, target }, rank) => {
        const { count, starts, experts } = routing.tokens[rank]!;
        const wanted = routing.tokens.flatMap((_, host) =>
          Array.from({ length: count }, (_, token) => token)
            .filter((token) =>
              [...experts.subarray(starts[token], starts[token + 1])].some(
                (expert) => host !== rank && routing.hostOf[expert] === host,
              ),
            )
            .flatMap((token) => [
              ...buffers.source.subarray(token * dispatchBytes, (token + 1) * dispatchBytes),
            ]),
        );
        expect(around.targetBytes(rank)).toBe(wanted.length);
        expect([...target]).toEqual(wanted);
      });
    }),
    { numRuns: 50 },
  );
});

test('after a combine, the sums of the plan are added up', () => {
  const routing = routingOf({
    ...{ world: 3, tokens: 9, experts: 7, topK: 3, seed: 4, placement: 'block' },
    popularity: { kind: 'uniform' },
  });
  const layout = new MoeLayout({
    ...layer,
    routing,
    dispatchBytes: 8,
    phase: 'combine',
    slices: 2,
  });
  const around = moeAroundCall(layout)!;
  expect(around.what).toBe('weighted sum');
  const sumsIn = (steps: readonly { kind: string }[]) =>
    steps.filter((step): step is SumStep => step.kind === 'sum').flatMap(({ parts }) => parts);
  const plan = moePlan(layout, { ...how, rank: 1, overlap: false });
  expect(sumsIn(around.plan({ ...how, rank: 1 }).steps)).toEqual(sumsIn(plan.steps));
});

test('tokens that are not whole numbers of 4 bytes are not packed', () => {
  const routing = routingOf({
    ...{ world: 2, tokens: 2, experts: 2, topK: 1, seed: 1, placement: 'block' },
    popularity: { kind: 'uniform' },
  });
  const of = (dispatchBytes: number) =>
    moeAroundCall(new MoeLayout({ ...layer, routing, dispatchBytes, phase: 'dispatch' }));
  expect(of(6)).toBeUndefined();
  expect(of(8)).toBeDefined();
});
