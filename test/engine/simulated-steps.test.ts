import { describe, expect, test } from 'vitest';
import { simulatePlans } from '../../src/engine/simulated.js';
import { oneToEach } from '../../src/plan/patterns/one-to-each.js';
import { isWrite, type Plan, type Step } from '../../src/plan/plan.js';
import { single } from '../../src/plan/strategies.js';
import { byReads } from '../plan/variants.js';
import { line, mebibyte, simOf, withParameters } from './simulated-fabric.js';

test('what comes after a join starts when its time has come', () => {
  const bytes = 8 * mebibyte;
  const plans = [0, 1].map((rank): Plan => {
    const plan = oneToEach({ world: 2, from: 0, bytes, rank, channels: 4, strategy: single });
    if (rank === 1) return plan;
    const join = { kind: 'join', after: [], notBefore: 5e6 } as const;
    return { ...plan, steps: [join, ...plan.steps.map((step) => ({ ...step, after: [0] }))] };
  });
  const [time] = simulatePlans({ world: simOf(2), plans });
  expect(time).toBeCloseTo(5e6 + 40_000 + line(bytes), 3);
});

describe('reads, parts, joins and sums', () => {
  const plansOf = (bytes: number) =>
    [0, 1].map((rank) =>
      oneToEach({
        world: 2,
        from: 0,
        bytes,
        rank,
        channels: 4,
        strategy: single,
        chunkBytes: mebibyte,
      }),
    );
  const world = simOf(2);

  test('a read takes as long at its reader as the write takes at its writer', () => {
    const plans = plansOf(8 * mebibyte);
    const [writer] = simulatePlans({ world, plans });
    const [nobody, reader] = simulatePlans({ world, plans: byReads(plans) });
    expect(reader).toBe(writer);
    expect(nobody).toBe(0);
  });

  test('a read and a write with one peer share no direction of a link', () => {
    const duplex = simOf(2, {
      fabric: withParameters({ duplexEfficiency: 1, chunkMicroseconds: 0 }),
    });
    const [first, second] = plansOf(8 * mebibyte) as [Plan, Plan];
    const [, reading] = byReads([first, second]);
    const read = { ...reading!.steps[0]!, peer: 1 } as Step;
    const both = [{ ...first, steps: [...first.steps, read] }, second];
    const [alone] = simulatePlans({ world: duplex, plans: [first, second] });
    const [together] = simulatePlans({ world: duplex, plans: both });
    expect(together).toBeCloseTo(alone!, 0);
  });

  test('each part is posted on its own, and the last byte leaves when the last part is posted', () => {
    const twice = (plan: Plan): Plan => ({
      ...plan,
      steps: plan.steps.flatMap((step) => [step, { ...step, slot: 1 } as Step]),
    });
    const inPieces = (plan: Plan): Plan => ({
      ...plan,
      steps: plan.steps.map((step) => {
        if (!isWrite(step)) return step;
        const each = step.local.bytes / 64;
        const starts = Array.from({ length: 64 }, (_, i) => i * each);
        const parts = starts.map((at) => ({ local: at, remote: at, bytes: each }));
        return { ...step, parts };
      }),
    });
    const plans = plansOf(64).map(twice);
    const [whole] = simulatePlans({ world, plans });
    const [pieces] = simulatePlans({ world, plans: plans.map(inPieces) });
    // 64 bytes are on their way for less time than it takes to post the next part.
    expect(pieces! - whole!).toBeCloseTo(2 * 63_000 - line(64));
  });

  test('joins and sums take no time', () => {
    const plans = plansOf(mebibyte);
    const longer = plans.map((plan): Plan => {
      const after = [...plan.steps.keys()];
      const part = { into: 0, bytes: 4, from: [{ buffer: 'source' as const, offset: 0 }] };
      const sum: Step = { kind: 'sum', dtype: 'float32', parts: [part], after: [after.length] };
      return { ...plan, steps: [...plan.steps, { kind: 'join', after }, sum] };
    });
    expect(simulatePlans({ world, plans: longer })).toEqual(simulatePlans({ world, plans }));
  });
});
