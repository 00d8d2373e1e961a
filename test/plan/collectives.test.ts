import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { broadcastRoute } from '../../src/benchmarks/collective.js';
import { boundOfTraffic, loadOfTraffic } from '../../src/plan/bound.js';
import type { CollectiveTraffic } from '../../src/plan/patterns/collective-layout.js';
import { collective, type PlannedCollective } from '../../src/plan/patterns/collectives.js';
import { direct, ring, routes, tree } from '../../src/plan/patterns/routes.js';
import { isWait, isWrite, maxSlot, type Plan } from '../../src/plan/plan.js';
import { stagedPlan } from '../../src/plan/staged.js';
import { multi, single, strategies } from '../../src/plan/strategies.js';
import { contentsOf, type Traffic } from '../../src/plan/traffic.js';
import { planImmediate, ranksOf } from './arbitrary.js';
import { Interpreter } from './interpreter.js';
import { isStaged } from './interpreter-rank.js';
import { loadOfPlans } from './load-of-plans.js';
import { sourceByte } from './source-bytes.js';

const kinds = ['allgather', 'reduce-scatter', 'allreduce', 'broadcast'] as const;
const iterations = 3;

/** What 4 bytes from here on are in a rank's source, as an int32. */
const sourceInt = (rank: number, offset: number, iteration: number): number =>
  [0, 1, 2, 3].reduce((sum, i) => sum | (sourceByte(rank, offset + i, iteration) << (8 * i)), 0);

/** Whenever a rank ends an iteration, its target must hold what the traffic says: copies, and sums of int32. */
function execute(plans: readonly Plan[], traffic: Traffic, seed: number): void {
  new Interpreter(plans, seed, iterations).run(({ plan, target, iteration }) => {
    const staged = isStaged(plan) ? iteration : 0;
    const view = new DataView(target.buffer);
    for (const content of contentsOf(traffic, plan.rank)) {
      // A copy is a sum of one; all bytes are compared, 4 at a time.
      const origins = 'copyOf' in content ? [content.copyOf] : content.sumOf;
      for (let i = 0; i < content.bytes; i += 4) {
        const found = view.getInt32(content.offset + i, true);
        const expected = origins.reduce(
          (sum, { rank, offset }) => (sum + sourceInt(rank, offset + i, staged)) | 0,
          0,
        );
        if (found !== expected) throw new Error(`rank ${plan.rank} has a wrong byte at ${i}`);
      }
    }
  });
}

const plansOf = ({ traffic, plan }: PlannedCollective, how: How): Plan[] =>
  ranksOf(traffic).map((rank) => plan({ ...how, rank }));

const arbitraryTraffic = fc.integer({ min: 1, max: 5 }).chain((world) =>
  fc.record({
    world: fc.constant(world),
    bytes: fc
      .oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 400 }))
      .map((n) => 4 * n),
    route: fc.constantFrom(...Object.values(routes)),
    root: fc.integer({ min: 0, max: world - 1 }),
    pieceBytes: fc.integer({ min: 64, max: 512 }),
    dtype: fc.constant('int32' as const),
  }),
);

const arbitraryHow = fc.record({
  strategy: fc.constantFrom(...strategies),
  channels: fc.integer({ min: 1, max: 3 }),
  chunkBytes: fc.integer({ min: 20, max: 500 }),
  window: fc.integer({ min: 1, max: 4 }),
});

type How = Omit<Parameters<PlannedCollective['plan']>[0], 'rank'>;

describe.each(kinds)('%s', (kind) => {
  const check = (
    property: (options: CollectiveTraffic, how: How, seed: number) => void,
    numRuns = 100,
  ) =>
    fc.assert(
      fc.property(arbitraryTraffic, arbitraryHow, fc.integer(), (traffic, how, seed) =>
        property({ ...traffic, kind }, how, seed),
      ),
      { numRuns },
    );

  test('ends with the right bytes in place, however far some ranks are ahead', () => {
    check((options, how, seed) => {
      const made = collective(options);
      execute(plansOf(made, how), made.traffic, seed);
    });
  });

  test('sends what its blocks say over the channels they say', () => {
    check((options, how) => {
      const made = collective(options);
      const { out, in: into } = loadOfTraffic(made.traffic, how.strategy, how.channels);
      expect(loadOfPlans(plansOf(made, how))).toMatchObject({ out, in: into });
    });
  });

  test('ranks agree on what they send each other, and name every piece once', () => {
    check((options, how) => {
      const made = collective(options);
      const ranks = ranksOf(made.traffic);
      const key = (value: unknown) => JSON.stringify(value);
      const sent = ranks.flatMap((rank) => made.traffic.outgoing(rank)).map(key);
      expect(
        ranks
          .flatMap((rank) => made.traffic.incoming(rank))
          .map(key)
          .sort(),
      ).toEqual(sent.sort());
      for (const { steps } of plansOf(made, how)) {
        const names = steps.filter(isWait).map(({ source, slot }) => planImmediate(source, slot));
        expect(new Set(names).size).toBe(names.length);
      }
    });
  });

  test('of 512 ranks, plans stay small and slots below the executor’s own', () => {
    for (const route of [direct, ring]) {
      const { plan, traffic } = collective({ kind, world: 512, bytes: 512 * 2 ** 20, route });
      expect(traffic.outgoing(1).length).toBeLessThanOrEqual(2 * 511);
      const { steps } = plan({ rank: 0, strategy: multi, channels: 16 });
      const writes = steps.filter(isWrite);
      expect(writes.length).toBeLessThanOrEqual(2 * 511 * 16);
      expect(Math.max(...writes.map(({ slot }) => slot))).toBeLessThanOrEqual(maxSlot);
      const after = steps.reduce((sum, step) => sum + step.after.length, 0);
      expect(after).toBeLessThanOrEqual(2 * steps.length);
    }
  });
});

describe('in GPU memory that is staged', () => {
  test.each(kinds)('%s passes on what arrived, and sums', (kind) => {
    fc.assert(
      fc.property(arbitraryTraffic, arbitraryHow, fc.integer(), (options, how, seed) => {
        const made = collective({ ...options, kind });
        const plans = plansOf(made, how).map((plan) => stagedPlan(plan, 128));
        execute(plans, made.traffic, seed);
      }),
      { numRuns: 30 },
    );
  });
});

describe('the bound', () => {
  const bytes = 12 * 2 ** 20;
  const world = 6;
  const links = [{ lineRateGbps: 8 }, { lineRateGbps: 8 }];
  /** In units of the time that all bytes take on one channel. */
  const boundOf = (kind: (typeof kinds)[number], route = direct, strategy = single) => {
    const { traffic } = collective({ kind, world, bytes, route });
    return boundOfTraffic(traffic, strategy, links).nanoseconds! / bytes;
  };

  test.each([direct, ring])('is nccl-tests’ factor of the bytes: $title', (route) => {
    expect(boundOf('allgather', route)).toBeCloseTo(5 / 6, 6);
    expect(boundOf('reduce-scatter', route)).toBeCloseTo(5 / 6, 6);
    expect(boundOf('allreduce', route)).toBeCloseTo(10 / 6, 6);
    expect(boundOf('allreduce', route, multi)).toBeCloseTo(5 / 6, 6);
  });

  test('of a broadcast follows the number of ranks that the root serves', () => {
    expect(boundOf('broadcast', direct)).toBeCloseTo(5, 6);
    expect(boundOf('broadcast', ring)).toBeCloseTo(1, 6);
    expect(boundOf('broadcast', tree)).toBeCloseTo(3, 6);
  });
});

test('a broadcast takes the ring when there are pieces for all ranks, and a tree among many', () => {
  expect(broadcastRoute(4, 2 ** 20)).toBe('ring');
  expect(broadcastRoute(4, 2 ** 20 - 64)).toBe('direct');
  expect(broadcastRoute(64, 2 ** 20)).toBe('tree');
});

describe.each(Object.values(routes))('the route $title', ({ to, from }) => {
  test.each([1, 2, 3, 8, 13])('reaches each of %i places once', (world) => {
    const reached = [0];
    for (const place of reached) {
      for (const next of to(place, world)) {
        expect(from(next)).toBe(place);
        reached.push(next);
      }
    }
    expect(reached.sort((a, b) => a - b)).toEqual(Array.from({ length: world }, (_, i) => i));
  });
});
