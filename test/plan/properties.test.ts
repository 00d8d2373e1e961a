import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { allToAllTraffic } from '../../src/plan/patterns/all-to-all.js';
import { oneToEachTraffic } from '../../src/plan/patterns/one-to-each.js';
import { chunkCount, isWait, isWrite, maxSlot } from '../../src/plan/plan.js';
import { strategies } from '../../src/plan/strategies.js';
import type { Traffic } from '../../src/plan/traffic.js';
import { type WritePlanOptions, writePlan } from '../../src/plan/write-plan.js';
import {
  arbitraryChannels,
  arbitraryStrategy,
  arbitraryTraffic,
  planImmediate,
  ranksOf,
} from './arbitrary.js';

type Spread = Pick<WritePlanOptions, 'strategy' | 'channels' | 'chunkBytes'>;

const arbitrarySpread: fc.Arbitrary<Spread> = fc.record({
  strategy: arbitraryStrategy,
  channels: arbitraryChannels,
  chunkBytes: fc.integer({ min: 1, max: 300 }),
});

const plansOf = (traffic: Traffic, spread: Spread) =>
  ranksOf(traffic).map((rank) => writePlan(traffic, { ...spread, rank }));

interface Range {
  readonly from: number;
  readonly to: number;
}

/** Joins adjoining ranges; throws where two overlap. */
function joined(ranges: readonly Range[]): Range[] {
  const result: { from: number; to: number }[] = [];
  for (const { from, to } of [...ranges].sort((a, b) => a.from - b.from || a.to - b.to)) {
    const last = result.at(-1);
    if (from === to) continue;
    if (last !== undefined && from < last.to) throw new Error(`${from} is covered twice`);
    if (last?.to === from) last.to = to;
    else result.push({ from, to });
  }
  return result;
}

const range = (offset: number, bytes: number): Range => ({ from: offset, to: offset + bytes });

describe('plans of writes', () => {
  const check = (property: (traffic: Traffic, spread: Spread) => void) =>
    fc.assert(fc.property(arbitraryTraffic(24, 5000), arbitrarySpread, property), { numRuns: 200 });

  test('every byte to be sent is sent exactly once', () => {
    check((traffic, spread) => {
      for (const plan of plansOf(traffic, spread)) {
        const sent = plan.steps
          .filter(isWrite)
          .map(({ local }) => range(local.offset, local.bytes));
        const wanted = traffic.outgoing(plan.rank).map((b) => range(b.sourceOffset, b.bytes));
        expect(joined(sent)).toEqual(joined(wanted));
      }
    });
  });

  test('every byte lands exactly once, where the target expects it', () => {
    check((traffic, spread) => {
      const writes = plansOf(traffic, spread).flatMap((plan) => plan.steps.filter(isWrite));
      for (const rank of ranksOf(traffic)) {
        const landed = writes
          .filter((write) => write.peer === rank)
          .map(({ remote, local }) => range(remote.offset, local.bytes));
        const expected = traffic.incoming(rank).map((b) => range(b.targetOffset, b.bytes));
        expect(joined(landed)).toEqual(joined(expected));
      }
    });
  });

  test('what a rank receives is what the others send it', () => {
    check((traffic) => {
      const sent = ranksOf(traffic).flatMap((rank) => [...traffic.outgoing(rank)]);
      const received = ranksOf(traffic).flatMap((rank) => [...traffic.incoming(rank)]);
      const key = (b: (typeof sent)[number]) => JSON.stringify(b);
      expect(received.map(key).sort()).toEqual(sent.map(key).sort());
    });
  });

  test('a target waits for as many chunks as are sent, per source and slot', () => {
    check((traffic, spread) => {
      const plans = plansOf(traffic, spread);
      const sent: string[] = [];
      const awaited: string[] = [];
      for (const { rank, steps, chunkBytes } of plans) {
        for (const { peer, slot, local } of steps.filter(isWrite)) {
          sent.push(`${rank}>${peer} ${slot}: ${chunkCount(local.bytes, chunkBytes)}`);
        }
        for (const { source, slot, bytes } of steps.filter(isWait)) {
          awaited.push(`${source}>${rank} ${slot}: ${chunkCount(bytes, chunkBytes)}`);
        }
      }
      expect(awaited.sort()).toEqual(sent.sort());
    });
  });

  test('no two pieces arrive at a target with the same immediate', () => {
    check((traffic, spread) => {
      for (const plan of plansOf(traffic, spread)) {
        const immediates = plan.steps.filter(isWait).map((w) => planImmediate(w.source, w.slot));
        expect(new Set(immediates).size).toBe(immediates.length);
      }
    });
  });

  test('channels and buffers are never left', () => {
    check((traffic, spread) => {
      const plans = plansOf(traffic, spread);
      for (const { steps, sourceBytes, channels } of plans) {
        for (const { channel, local, remote, peer } of steps.filter(isWrite)) {
          expect(channel).toBeLessThan(channels);
          expect(local.offset + local.bytes).toBeLessThanOrEqual(sourceBytes);
          expect(remote.offset + local.bytes).toBeLessThanOrEqual(plans[peer]!.targetBytes);
        }
      }
    });
  });
});

describe.each(strategies)('$title in a world of 512 ranks and 16 channels', (strategy) => {
  test('immediates stay within 31 bits and slots below the executor’s own', () => {
    const traffic = allToAllTraffic({ world: 512, bytes: 4097 });
    for (const rank of [0, 255, 511]) {
      const { steps } = writePlan(traffic, { rank, strategy, channels: 16 });
      const immediates = steps.filter(isWait).map((w) => planImmediate(w.source, w.slot));
      expect(new Set(immediates).size).toBe(511 * strategy.split(4097, 16).length);
      expect(Math.max(...immediates)).toBeLessThan(2 ** 31);
      expect(Math.max(...steps.filter(isWait).map((w) => w.slot))).toBeLessThanOrEqual(maxSlot);
    }
  });

  test('all bytes that leave arrive, and none twice', () => {
    const bytes = 1001;
    const traffic = allToAllTraffic({ world: 512, bytes });
    const received = new Float64Array(512);
    for (const rank of ranksOf(traffic)) {
      const writes = writePlan(traffic, { rank, strategy, channels: 16 }).steps.filter(isWrite);
      for (const { peer, local } of writes) received[peer]! += local.bytes;
      const places = writes.map(({ peer, remote }) => peer * 2 ** 32 + remote.offset);
      expect(new Set(places).size).toBe(places.length);
    }
    expect(new Set(received)).toEqual(new Set([511 * bytes]));
  });

  test('one rank reaches all others', () => {
    const traffic = oneToEachTraffic({ world: 512, from: 7, bytes: 3 });
    const { steps } = writePlan(traffic, { rank: 7, strategy, channels: 16 });
    expect(new Set(steps.filter(isWrite).map((write) => write.peer)).size).toBe(511);
  });
});
