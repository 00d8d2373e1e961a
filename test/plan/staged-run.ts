import fc from 'fast-check';
import { expect } from 'vitest';
import type { Plan } from '../../src/plan/plan.js';
import { stagedPlan } from '../../src/plan/staged.js';
import { contentsOf, type Traffic } from '../../src/plan/traffic.js';
import { writePlan } from '../../src/plan/write-plan.js';
import { arbitraryTraffic, ranksOf } from './arbitrary.js';
import { Interpreter } from './interpreter.js';
import { sourceByte } from './source-bytes.js';

const iterations = 3;

/** Runs the plans; whenever a rank ends an iteration, its device must hold that very iteration's bytes. */
export function execute(plans: readonly Plan[], traffic: Traffic, seed: number): void {
  const interpreter = new Interpreter(plans, seed, iterations);
  const check = ({ plan, target, iteration }: (typeof interpreter.ranks)[number]) => {
    for (const content of contentsOf(traffic, plan.rank)) {
      if (!('copyOf' in content)) continue;
      for (let i = 0; i < content.bytes; i++) {
        const { rank, offset } = content.copyOf;
        const expected = sourceByte(rank, offset + i, iteration);
        if (target[content.offset + i] !== expected) throw new Error('a wrong byte on the device');
      }
    }
  };
  interpreter.run(check);
  for (const { plan, writes } of interpreter.ranks) {
    const expected = new Uint32Array(plan.targetBytes);
    for (const { offset, bytes } of contentsOf(traffic, plan.rank)) {
      expected.fill(iterations, offset, offset + bytes);
    }
    expect(writes).toEqual(expected);
  }
}

export const pacing = {
  channels: fc.integer({ min: 1, max: 4 }),
  chunkBytes: fc.integer({ min: 20, max: 500 }),
  window: fc.integer({ min: 1, max: 4 }),
};
export const pieceBytes = fc.integer({ min: 1, max: 500 });
export const arbitraryRun = fc.record({
  traffic: arbitraryTraffic(4, 400),
  pieceBytes,
  seed: fc.integer(),
  ...pacing,
});

export const stagedPlans = (
  traffic: Traffic,
  options: Omit<Parameters<typeof writePlan>[1], 'rank'>,
  piece: number,
) => ranksOf(traffic).map((rank) => stagedPlan(writePlan(traffic, { ...options, rank }), piece));
