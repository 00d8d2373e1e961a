import fc from 'fast-check';
import { expect, test } from 'vitest';
import { seededRandom } from '../../src/measure/seeded-random.js';
import { boundOfTraffic } from '../../src/plan/bound.js';
import { type Transfer, transfersTraffic } from '../../src/plan/patterns/transfers.js';
import { single } from '../../src/plan/strategies.js';
import type { Traffic } from '../../src/plan/traffic.js';
import { ranksOf } from './arbitrary.js';

/** A byte per nanosecond. */
const links = [{ nic: 'nic0', lineRateGbps: 8 }];
const boundNs = (traffic: Traffic) => boundOfTraffic(traffic, single, links).nanoseconds!;

const trafficOf = (
  world: number,
  transfers: readonly Transfer[],
  startedBy: 'source' | 'target' = 'source',
): Traffic => ({ ...transfersTraffic('some', world, transfers), startedBy });

/**
 * The mean time of the slowest rank if iterations follow each other without a barrier, and NICs serve one block after the
 * other in any order. A rank's iteration ends when all that it sends and receives has arrived.
 */
function meanTime(traffic: Traffic, iterations: number, random: () => number): number {
  const ranks = ranksOf(traffic).map(() => ({ since: 0, times: [] as number[] }));
  const nics = ranks.map(() => ({ out: 0, in: 0 }));
  const blocks = ranksOf(traffic).flatMap((rank) =>
    traffic.outgoing(rank).flatMap((block) =>
      Array.from({ length: iterations }, (_, iteration) => ({
        block,
        iteration,
        end: Number.POSITIVE_INFINITY,
      })),
    ),
  );
  type One = (typeof blocks)[number];
  /** When it may leave; never, as long as its rank is in another iteration. */
  const ready = ({ block, iteration, end }: One): number => {
    const rank = ranks[traffic.startedBy === 'target' ? block.target : block.source]!;
    const may = rank.times.length === iteration && end === Number.POSITIVE_INFINITY;
    return may ? rank.since + (block.notBefore ?? 0) : Number.POSITIVE_INFINITY;
  };
  const free = ({ block }: One) => Math.max(nics[block.source]!.out, nics[block.target]!.in);

  for (let now = 0; now < Number.POSITIVE_INFINITY; ) {
    for (const [rank, state] of ranks.entries()) {
      const open = ({ block, iteration, end }: One) =>
        (block.source === rank || block.target === rank) &&
        iteration === state.times.length &&
        end > now;
      while (state.times.length < iterations && !blocks.some(open)) {
        state.times.push(now - state.since);
        state.since = now;
      }
    }
    const able = blocks.filter((one) => Math.max(ready(one), free(one)) <= now);
    const next = able[Math.floor(random() * able.length)];
    if (next) {
      next.end = now + next.block.bytes;
      nics[next.block.source]!.out = next.end;
      nics[next.block.target]!.in = next.end;
    } else {
      const later = blocks.flatMap((one) => [ready(one), one.end]).filter((time) => time > now);
      now = Math.min(...later);
    }
  }
  const slowest = ranks[0]!.times.map((_, i) => Math.max(...ranks.map(({ times }) => times[i]!)));
  return slowest.reduce((sum, one) => sum + one, 0) / iterations;
}

test('ranks that got out of step share a receiver without waiting for each other', () => {
  const late = { to: 2, bytes: 1000, notBefore: 1000 };
  const traffic = trafficOf(
    3,
    [0, 1].map((from) => ({ from, ...late })),
  );
  expect(meanTime(traffic, 40, seededRandom(1))).toBe(2000 + 1000 / 40);
  expect(boundNs(traffic)).toBe(2000);
});

test('no order of service makes the mean time shorter than the bound', () => {
  const world = 4;
  const rank = fc.nat(world - 1);
  const transfer = fc
    .record({
      from: rank,
      to: rank,
      bytes: fc.integer({ min: 1, max: 2000 }),
      notBefore: fc.nat(3000),
    })
    .filter(({ from, to }) => from !== to);
  const property = fc.property(
    fc.array(transfer, { minLength: 1, maxLength: 6 }),
    fc.constantFrom('source' as const, 'target' as const),
    fc.nat(1000),
    (transfers, startedBy, seed) => {
      const traffic = trafficOf(world, transfers, startedBy);
      expect(meanTime(traffic, 12, seededRandom(seed))).toBeGreaterThanOrEqual(boundNs(traffic));
    },
  );
  fc.assert(property);
});
