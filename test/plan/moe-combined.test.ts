import fc from 'fast-check';
import { expect, test } from 'vitest';
import { moeTraffic } from '../../src/plan/patterns/moe.js';
import { MoeLayout } from '../../src/plan/patterns/moe-layout.js';
import { moePlan } from '../../src/plan/patterns/moe-plan.js';
import type { Routing } from '../../src/plan/routing.js';
import { stagedPlan } from '../../src/plan/staged.js';
import { contentsOf } from '../../src/plan/traffic.js';
import { arbitraryStrategy } from './arbitrary.js';
import { arbitraryDraw, routingOf } from './drawn-routing.js';
import { Interpreter } from './interpreter.js';
import { numbers, viewOf } from './numbers.js';

/** What an expert on rank `host` returns for a token, by position: small whole numbers, whose sums are exact. */
const result = (host: number, rank: number, token: number, i: number): number =>
  ((host * 7 + rank * 5 + token * 3 + i * 11) % 17) - 8;

/** The hosts of a token's experts with their weights, straight from the routing. */
function expertsOf({ tokens, hostOf }: Routing, rank: number, token: number) {
  const { starts, experts, sixteenths } = tokens[rank]!;
  const own: { host: number; weight: number }[] = [];
  for (let i = starts[token]!; i < starts[token + 1]!; i++) {
    own.push({ host: hostOf[experts[i]!]!, weight: sixteenths[i]! / 16 });
  }
  return own;
}

/** Number `i` of a token's sum: over its experts, weight × result. */
const combined = (routing: Routing, rank: number, token: number, i: number): number =>
  expertsOf(routing, rank, token).reduce(
    (sum, { host, weight }) => sum + weight * result(host, rank, token, i),
    0,
  );

const { get, put } = numbers.bfloat16;

/** Writes what the experts of `host` return: for each rank in turn, a vector for each token with an expert here. */
function returnResults(routing: Routing, host: number, vectors: Uint8Array, values: number): void {
  const view = viewOf(vectors);
  let at = 0;
  for (let rank = 0; rank < routing.world; rank++) {
    for (let token = 0; token < routing.tokens[rank]!.count; token++) {
      if (!expertsOf(routing, rank, token).some((one) => one.host === host)) continue;
      for (let i = 0; i < values; i++, at += 2) put(view, at, result(host, rank, token, i));
    }
  }
  expect(at).toBe(vectors.length);
}

const arbitraryRun = fc.record({
  drawn: arbitraryDraw(6, 4),
  dispatchBytes: fc.constantFrom(64, 34, 13),
  values: fc.integer({ min: 1, max: 5 }),
  phase: fc.constantFrom('combine' as const, 'both' as const),
  microBatches: fc.integer({ min: 1, max: 2 }),
  slices: fc.integer({ min: 1, max: 2 }),
  strategy: arbitraryStrategy,
  channels: fc.integer({ min: 1, max: 3 }),
  overlap: fc.boolean(),
  staged: fc.boolean(),
  seed: fc.nat(),
});

test('what is combined, and what it is verified against, is the weighted sum over the experts of each token', () => {
  fc.assert(
    fc.property(arbitraryRun, ({ drawn, values, strategy, channels, overlap, staged, ...rest }) => {
      const routing = routingOf(drawn);
      const layout = new MoeLayout({ ...rest, routing, combineBytes: 2 * values });
      const plans = routing.tokens.map((_, rank) => {
        const plan = moePlan(layout, { rank, channels, strategy, overlap, chunkBytes: 100 });
        return staged ? stagedPlan(plan, 50) : plan;
      });
      const interpreter = new Interpreter(plans, rest.seed, 1);
      const sources = interpreter.ranks.map(({ buffers }) =>
        staged ? buffers.sourceDevice : buffers.source,
      );
      sources.forEach((source, host) => {
        const { offset, bytes } = layout.returns(host);
        returnResults(routing, host, source.subarray(offset, offset + bytes), values);
      });
      // What a staged plan sends is new when an iteration has ended.
      const returned = sources.map((source) => viewOf(source.slice()));
      interpreter.run();
      for (const { target, plan } of interpreter.ranks) {
        const expected = contentsOf(moeTraffic(layout), plan.rank).filter((one) => 'sumOf' in one);
        expect(expected).toHaveLength(routing.tokens[plan.rank]!.count);
        expected.forEach(({ offset, sumOf }, token) => {
          expect(offset).toBe(layout.sumAt(plan.rank, token));
          for (let i = 0; i < values; i++) {
            const wanted = combined(routing, plan.rank, token, i);
            const verified = sumOf.reduce(
              (sum, { rank, offset: at, weight = 1 }) =>
                sum + weight * get(returned[rank]!, at + 2 * i),
              0,
            );
            expect(get(viewOf(target), offset + 2 * i)).toBe(wanted);
            expect(verified).toBe(wanted);
          }
        });
      }
    }),
    { numRuns: 80 },
  );
});
