import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../src/measure/seeded-random.js';
import { allToAllTraffic } from '../../src/plan/patterns/all-to-all.js';
import { pingPong } from '../../src/plan/patterns/ping-pong.js';
import type { Plan } from '../../src/plan/plan.js';
import { single, strategies } from '../../src/plan/strategies.js';
import type { Traffic } from '../../src/plan/traffic.js';
import { writePlan } from '../../src/plan/write-plan.js';
import { arbitraryTraffic, bytesUpTo, ranksOf } from './arbitrary.js';
import { Interpreter } from './interpreter.js';
import { viewOf } from './numbers.js';
import { sourceByte } from './source-bytes.js';
import { byReads, inParts } from './variants.js';

const iterations = 3;

/** Runs the plans and checks, whenever a rank ends an iteration, that all it waits for is there. */
function execute(plans: readonly Plan[], traffic: Traffic, seed: number): Interpreter {
  const interpreter = new Interpreter(plans, seed, iterations);
  interpreter.run(({ plan, target, writes, iteration }) => {
    for (const { source, sourceOffset, targetOffset, bytes } of traffic.incoming(plan.rank)) {
      for (let i = 0; i < bytes; i++) {
        if (writes[targetOffset + i]! <= iteration)
          throw new Error('done before its bytes arrived');
        if (target[targetOffset + i] !== sourceByte(source, sourceOffset + i)) {
          throw new Error('a wrong byte');
        }
      }
    }
  });
  return interpreter;
}

const arbitraryRun = fc.record({
  traffic: arbitraryTraffic(5, 400),
  channels: fc.integer({ min: 1, max: 4 }),
  chunkBytes: fc.integer({ min: 20, max: 500 }),
  window: fc.integer({ min: 1, max: 4 }),
  seed: fc.integer(),
});

const ways = [
  { way: 'by writes', of: (plans: Plan[]) => plans },
  {
    way: 'by writes in parts',
    of: (plans: Plan[], seed: number) => inParts(plans, seededRandom(seed), 6),
  },
  { way: 'by reads', of: byReads },
  {
    way: 'by reads in parts',
    of: (plans: Plan[], seed: number) => byReads(inParts(plans, seededRandom(seed), 6)),
  },
];
const cases = strategies.flatMap((strategy) =>
  ways.map((way) => ({ ...way, strategy, title: strategy.title })),
);

describe.each(cases)('$title $way under random schedules', ({ strategy, of }) => {
  const plansOf = (
    traffic: Traffic,
    pacing: { channels: number; chunkBytes: number; window: number; seed: number },
  ) => {
    const { seed, ...paced } = pacing;
    return of(
      ranksOf(traffic).map((rank) => writePlan(traffic, { ...paced, rank, strategy })),
      seed,
    );
  };

  test('an iteration ends with the right bytes in place', () => {
    fc.assert(
      fc.property(arbitraryRun, ({ traffic, seed, ...pacing }) => {
        execute(plansOf(traffic, { ...pacing, seed }), traffic, seed);
      }),
      { numRuns: 40 },
    );
  });

  test('every byte is written once per iteration and no other byte is touched', () => {
    fc.assert(
      fc.property(arbitraryRun, ({ traffic, seed, ...pacing }) => {
        const { ranks } = execute(plansOf(traffic, { ...pacing, seed }), traffic, seed);
        for (const { plan, writes } of ranks) {
          const expected = new Uint32Array(plan.targetBytes);
          for (const { targetOffset, bytes } of traffic.incoming(plan.rank)) {
            expected.fill(iterations, targetOffset, targetOffset + bytes);
          }
          expect(writes).toEqual(expected);
        }
      }),
      { numRuns: 15 },
    );
  });
});

describe('a sum under random schedules', () => {
  test('adds what its earlier steps brought', () => {
    const bytes = 32;
    const traffic = allToAllTraffic({ world: 2, bytes });
    const plans = ranksOf(traffic).map((rank): Plan => {
      const plan = writePlan(traffic, { rank, strategy: single, channels: 1, chunkBytes: 20 });
      const after = plan.steps.flatMap((step, index) => (step.kind === 'wait' ? [index] : []));
      const [mine] = traffic.outgoing(rank);
      const [theirs] = traffic.incoming(rank);
      const from = [
        { buffer: 'source' as const, offset: mine!.sourceOffset },
        { buffer: 'target' as const, offset: theirs!.targetOffset },
      ];
      const parts = [{ into: plan.targetBytes, bytes, from }];
      const targetBytes = plan.targetBytes + bytes;
      return {
        ...plan,
        targetBytes,
        steps: [...plan.steps, { kind: 'sum', dtype: 'int32', parts, after }],
      };
    });
    const { ranks } = execute(plans, traffic, 3);
    const [first, second] = ranks.map(({ target }) => target.subarray(-bytes));
    const total = (rank: number, at: number) =>
      viewOf(ranks[rank]!.buffers.source).getInt32(
        traffic.outgoing(rank)[0]!.sourceOffset + at,
        true,
      );
    for (let at = 0; at < bytes; at += 4) {
      expect(viewOf(first!).getInt32(at, true)).toBe((total(0, at) + total(1, at)) | 0);
    }
    expect(second).toEqual(first);
  });
});

describe('ping-pong under random schedules', () => {
  const arbitraryGame = fc.record({
    bytes: bytesUpTo(400),
    chunkBytes: fc.integer({ min: 20, max: 500 }),
    window: fc.integer({ min: 1, max: 4 }),
    seed: fc.integer(),
  });

  test('both sides end with the other’s bytes and the third rank with none', () => {
    fc.assert(
      fc.property(arbitraryGame, ({ seed, ...game }) => {
        const plans = [0, 1, 2].map((rank) => pingPong({ ...game, rank, world: 3, a: 2, b: 0 }));
        const interpreter = new Interpreter(plans, seed, iterations);
        interpreter.run();
        const [b, outsider, a] = interpreter.ranks;
        const sentBy = (rank: number) =>
          Uint8Array.from({ length: game.bytes }, (_, i) => sourceByte(rank, i));
        expect(b!.target).toEqual(sentBy(2));
        expect(a!.target).toEqual(sentBy(0));
        expect(outsider!.target).toHaveLength(0);
      }),
      { numRuns: 100 },
    );
  });
});

describe('the interpreter itself', () => {
  const traffic = (): [Plan, Plan] => {
    const make = (rank: number) => pingPong({ rank, world: 2, a: 0, b: 1, bytes: 8 });
    return [make(0), make(1)];
  };

  test('sees a deadlock', () => {
    const [first, second] = traffic();
    const silent = { ...second, steps: second.steps.slice(0, 1) };
    expect(() => new Interpreter([first, silent], 1, 1).run()).toThrow('deadlock');
  });

  test('sees a message of the wrong length', () => {
    const [first] = traffic();
    const other = pingPong({ rank: 1, world: 2, a: 0, b: 1, bytes: 9 });
    expect(() => new Interpreter([first, other], 1, 1).run()).toThrow('differ in length');
  });
});
