import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type KvTraffic, kvArrivals, kvTraffic } from '../../src/plan/patterns/kv.js';
import { kvPlan } from '../../src/plan/patterns/kv-plan.js';
import { chunksOf } from '../../src/plan/plan.js';
import { stagedPlan } from '../../src/plan/staged.js';
import { multi, strategies } from '../../src/plan/strategies.js';
import { contentsOf, partsOf, type Traffic } from '../../src/plan/traffic.js';
import { ranksOf } from './arbitrary.js';
import { Interpreter } from './interpreter.js';
import { sourceByte } from './source-bytes.js';
import { execute } from './staged-run.js';

const arbitraryKv: fc.Arbitrary<KvTraffic> = fc
  .record({
    prefill: fc.integer({ min: 1, max: 3 }),
    decode: fc.integer({ min: 1, max: 3 }),
    requests: fc.integer({ min: 1, max: 7 }),
    layers: fc.integer({ min: 1, max: 3 }),
    pages: fc.integer({ min: 1, max: 5 }),
    pageBytes: fc.integer({ min: 1, max: 90 }),
    fragmentation: fc.constantFrom(0, 0.3, 1),
    coalesce: fc.boolean(),
    pull: fc.boolean(),
    seed: fc.integer({ min: 0, max: 1000 }),
    perSecond: fc.option(fc.integer({ min: 1, max: 1000 }), { nil: undefined }),
  })
  .map(({ perSecond, ...options }) => ({
    ...options,
    world: options.prefill + options.decode,
    ...(perSecond && {
      arrivals: kvArrivals({ ...options, perSecond, burst: 2, arrivals: 'poisson' }),
    }),
  }));

const usual: KvTraffic = {
  ...{ world: 4, requests: 8, layers: 3, pages: 16, pageBytes: 64 },
  ...{ fragmentation: 0.5, coalesce: true, seed: 1 },
};
const blocksOf = (traffic: Traffic) => ranksOf(traffic).flatMap((rank) => traffic.outgoing(rank));
const partsIn = (traffic: Traffic) => blocksOf(traffic).flatMap(partsOf);

describe('pages of requests', () => {
  test('arrive once each, whatever the order in which things happen', () => {
    fc.assert(
      fc.property(
        arbitraryKv,
        fc.constantFrom(...strategies),
        fc.record({
          channels: fc.integer({ min: 1, max: 3 }),
          chunkBytes: fc.integer({ min: 20, max: 200 }),
          window: fc.integer({ min: 1, max: 4 }),
        }),
        fc.integer(),
        (options, strategy, pacing, seed) => {
          const traffic = kvTraffic(options);
          const plans = ranksOf(traffic).map(
            (rank) => kvPlan(traffic, { ...pacing, strategy, rank }).plan,
          );
          const iterations = 2;
          const interpreter = new Interpreter(plans, seed, iterations);
          interpreter.run(({ plan, target, writes, iteration }) => {
            for (const content of contentsOf(traffic, plan.rank)) {
              if (!('copyOf' in content)) throw new Error('a page is a copy');
              for (let i = 0; i < content.bytes; i++) {
                const at = content.offset + i;
                if (writes[at]! <= iteration) throw new Error('done before its bytes arrived');
                if (target[at] !== sourceByte(content.copyOf.rank, content.copyOf.offset + i)) {
                  throw new Error('a wrong byte');
                }
              }
            }
          });
          const moved = interpreter.ranks.reduce(
            (sum, { writes }) => sum + writes.reduce((a, b) => a + b, 0),
            0,
          );
          const { requests, layers, pages, pageBytes } = options;
          expect(moved).toBe(iterations * requests * layers * pages * pageBytes);
        },
      ),
      { numRuns: 150 },
    );
  });

  test('staged, are on the device in the iteration in which they were sent', () => {
    fc.assert(
      fc.property(
        arbitraryKv.map((options) => ({ ...options, pull: false })),
        fc.constantFrom(...strategies),
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 1, max: 200 }),
        fc.integer(),
        (options, strategy, channels, pieceBytes, seed) => {
          const traffic = kvTraffic(options);
          const plans = ranksOf(traffic).map((rank) =>
            stagedPlan(
              kvPlan(traffic, { strategy, channels, rank, chunkBytes: 50 }).plan,
              pieceBytes,
            ),
          );
          execute(plans, traffic, seed);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('never share bytes at either end', () => {
    fc.assert(
      fc.property(arbitraryKv, (options) => {
        const traffic = kvTraffic(options);
        for (const rank of ranksOf(traffic)) {
          const taken = [
            ...traffic
              .outgoing(rank)
              .flatMap(partsOf)
              .map((part) => [part.sourceOffset, part.bytes]),
            ...traffic
              .incoming(rank)
              .flatMap(partsOf)
              .map((part) => [part.targetOffset, part.bytes]),
          ].sort((a, b) => a[0]! - b[0]!);
          const size = Math.max(traffic.sourceBytes(rank), traffic.targetBytes(rank));
          taken.forEach(([offset, bytes], i) => {
            expect(offset! + bytes!).toBeLessThanOrEqual(taken[i + 1]?.[0] ?? size);
          });
        }
      }),
    );
  });

  test('lie as the seed says', () => {
    expect(partsIn(kvTraffic(usual))).toEqual(partsIn(kvTraffic(usual)));
    expect(partsIn(kvTraffic({ ...usual, seed: 2 }))).not.toEqual(partsIn(kvTraffic(usual)));
  });

  test('are one part per layer without fragmentation, and apart with it', () => {
    const parts = (fragmentation: number, coalesce = true) =>
      partsIn(kvTraffic({ ...usual, fragmentation, coalesce })).length;
    const all = 8 * 3 * 16;
    expect(parts(0)).toBe(8 * 3);
    expect(parts(0, false)).toBe(all);
    expect(parts(1)).toBeGreaterThan(0.95 * all);
    // Both ends must keep two neighbours together: a quarter of them.
    expect(parts(0.5) / all).toBeGreaterThan(0.65);
    expect(parts(0.5) / all).toBeLessThan(0.85);
  });

  test('cost one operation per part and channel boundary, not one per page', () => {
    const traffic = kvTraffic({ ...usual, fragmentation: 0 });
    const { plan } = kvPlan(traffic, { rank: 0, channels: 2, strategy: multi });
    const writes = plan.steps.flatMap((step) =>
      step.kind === 'post' && step.op === 'write' ? [step] : [],
    );
    const operations = writes.reduce(
      (sum, { local, parts }) => sum + chunksOf({ bytes: local.bytes, parts }, plan.chunkBytes),
      0,
    );
    expect(operations).toBe(4 * (3 + 1));
  });
});

describe('requests', () => {
  const pairsOf = (prefill: number, decode: number, requests: number) =>
    blocksOf(kvTraffic({ ...usual, world: prefill + decode, prefill, decode, requests })).map(
      ({ source, target }) => `${source}>${target}`,
    );

  test.each([
    [1, 3, 6],
    [2, 2, 8],
    [3, 1, 6],
    [2, 3, 12],
  ])('of %i prefill and %i decode ranks use every pair as often', (prefill, decode, requests) => {
    const counts = new Map<string, number>();
    for (const pair of pairsOf(prefill, decode, requests)) {
      counts.set(pair, (counts.get(pair) ?? 0) + 1);
    }
    expect(counts.size).toBe(prefill * decode);
    expect(new Set(counts.values())).toEqual(new Set([requests / (prefill * decode)]));
  });

  test('need ranks of both kinds, and all of them', () => {
    const roles = (world: number, prefill?: number, decode?: number) => () =>
      kvTraffic({ ...usual, world, prefill, decode });
    expect(roles(4, 1)).not.toThrow();
    expect(roles(4, undefined, 3)).not.toThrow();
    expect(roles(4, 1, 2)).toThrow('1 prefill and 2 decode ranks do not fit 4 ranks');
    expect(roles(4, 4)).toThrow('4 prefill ranks do not fit 4 ranks');
    expect(roles(1)).toThrow('do not fit 1 ranks');
  });

  test('arrive in bursts, at the rate that was asked for', () => {
    const options = { requests: 4000, perSecond: 1000, burst: 4, seed: 1 };
    const even = kvArrivals({ ...options, arrivals: 'even' });
    expect(even.slice(0, 9)).toEqual([0, 0, 0, 0, 4e6, 4e6, 4e6, 4e6, 8e6]);
    const poisson = kvArrivals({ ...options, arrivals: 'poisson' });
    expect(poisson[3]).toBe(0);
    expect(new Set(poisson).size).toBe(1000);
    expect(poisson.at(-1)! / 4e9).toBeGreaterThan(0.9);
    expect(poisson.at(-1)! / 4e9).toBeLessThan(1.1);
    expect(poisson).toEqual(kvArrivals({ ...options, arrivals: 'poisson' }));
  });

  test('are marked on decode ranks from their own start', () => {
    const arrivals = [0, 5, 10, 15, 20, 25, 30, 35];
    const traffic = kvTraffic({ ...usual, arrivals });
    const marks = ranksOf(traffic).map(
      (rank) => kvPlan(traffic, { rank, channels: 1, strategy: multi }).marks,
    );
    expect(marks.map((own) => own.length)).toEqual([0, 0, 4, 4]);
    const starts = marks.flatMap((own) => own.map(({ since }) => since));
    expect(starts.sort((a, b) => a - b)).toEqual(arrivals);
  });
});
