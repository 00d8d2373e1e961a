import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { allToAllTraffic } from '../../src/plan/patterns/all-to-all.js';
import { pingPong } from '../../src/plan/patterns/ping-pong.js';
import { type TracedTransfer, traceOf } from '../../src/plan/patterns/trace.js';
import { isWait, isWrite } from '../../src/plan/plan.js';
import {
  formatTrace,
  formatTransferList,
  recordedTraffic,
} from '../../src/plan/recorded-traffic.js';
import { single, strategies } from '../../src/plan/strategies.js';
import { parseTrafficFile } from '../../src/plan/traffic-file.js';
import { writePlan } from '../../src/plan/write-plan.js';
import { Interpreter } from './interpreter.js';
import { sourceByte } from './source-bytes.js';

const world = 4;

/** Each may wait for some of the earlier transfers that its sender sends or receives. */
const arbitraryTrace: fc.Arbitrary<TracedTransfer[]> = fc
  .array(
    fc.record({
      from: fc.integer({ min: 0, max: world - 1 }),
      distance: fc.integer({ min: 1, max: world - 1 }),
      bytes: fc.integer({ min: 0, max: 300 }),
      waits: fc.array(fc.nat(20), { maxLength: 3 }),
    }),
    { minLength: 1, maxLength: 14 },
  )
  .map((all) => {
    const plain = all.map(({ from, distance, bytes }) => ({
      ...{ from, to: (from + distance) % world, bytes },
    }));
    return plain.map((one, index) => {
      const knows = (i: number) =>
        i < index && (plain[i]!.from === one.from || plain[i]!.to === one.from);
      const after = [...new Set(all[index]!.waits.filter(knows))].sort((a, b) => a - b);
      return { ...one, ...(after.length > 0 && { after }) };
    });
  });

const ranks = Array.from({ length: world }, (_, rank) => rank);

describe('a trace', () => {
  test.each(strategies)('puts every byte in place, however its ranks run ($title)', (strategy) => {
    const arbitrary = fc.record({ transfers: arbitraryTrace, seed: fc.integer() });
    fc.assert(
      fc.property(arbitrary, ({ transfers, seed }) => {
        const { traffic, plan } = traceOf('trace', world, transfers);
        const how = { channels: 3, strategy, chunkBytes: 100, window: 2 };
        const plans = ranks.map((rank) => plan({ ...how, rank }));
        new Interpreter(plans, seed, 2).run(({ plan: { rank }, target }) => {
          for (const { source, sourceOffset, targetOffset, bytes } of traffic.incoming(rank)) {
            for (let i = 0; i < bytes; i++) {
              if (target[targetOffset + i] !== sourceByte(source, sourceOffset + i)) {
                throw new Error('a wrong byte');
              }
            }
          }
        });
      }),
      { numRuns: 60 },
    );
  });

  test('waits for what was sent and for what was received, and for its time', () => {
    const transfers = [
      { from: 0, to: 1, bytes: 8 },
      { from: 1, to: 2, bytes: 8, after: [0] },
      { from: 1, to: 0, bytes: 8, after: [0, 1], notBefore: 5000 },
    ];
    const { steps } = traceOf('trace', 3, transfers).plan({
      rank: 1,
      channels: 1,
      strategy: single,
    });
    expect(steps.map(({ kind, after }) => [kind, after])).toEqual([
      ['wait', []],
      ['join', [0]],
      ['post', [1]],
      ['join', [0, 2]],
      ['post', [3]],
    ]);
    expect(steps[3]).toMatchObject({ notBefore: 5000 });
  });
});

describe('recorded traffic', () => {
  const planned = (transfers: readonly TracedTransfer[], size = world) => {
    const { plan } = traceOf('trace', size, transfers);
    return Array.from({ length: size }, (_, rank) => plan({ rank, channels: 1, strategy: single }));
  };

  test('of a trace is that trace, in an order that can be run', () => {
    fc.assert(
      fc.property(arbitraryTrace, (transfers) => {
        const recorded = recordedTraffic(planned(transfers));
        const text = (all: readonly TracedTransfer[], one: TracedTransfer): string =>
          JSON.stringify([
            ...[one.from, one.to, one.bytes],
            ...(one.after ?? []).map((i) => text(all, all[i]!)).sort(),
          ]);
        const lines = (all: readonly TracedTransfer[]) => all.map((one) => text(all, one)).sort();
        expect(lines(recorded)).toEqual(lines(transfers));
        for (const [index, { after = [] }] of recorded.entries()) {
          for (const earlier of after) expect(earlier).toBeLessThan(index);
        }
      }),
    );
  });

  test('is read back as it was written, and run with the same bytes per pair', () => {
    const times = [
      { from: 0, to: 1, bytes: 64 },
      { from: 1, to: 2, bytes: 8, after: [0], notBefore: 2500 },
      { from: 2, to: 0, bytes: 0, after: [1] },
    ];
    const recorded = recordedTraffic(planned(times, 3));
    expect(parseTrafficFile(formatTrace(recorded), 'trace').transfers).toEqual(times);
    const exchange = allToAllTraffic({ world, bytes: 100 });
    const plans = ranks.map((rank) => writePlan(exchange, { rank, channels: 1, strategy: single }));
    const list = parseTrafficFile(formatTransferList(recordedTraffic(plans)), 'list');
    const again = traceOf('again', list.world, list.transfers).traffic;
    const pairs = (traffic: typeof exchange) =>
      ranks.flatMap((rank) => traffic.outgoing(rank).map((b) => [b.source, b.target, b.bytes]));
    expect(pairs(again)).toEqual(pairs(exchange));
  });

  test('of messages has each answer after the message', () => {
    const plans = [0, 1].map((rank) => pingPong({ rank, world: 2, a: 0, b: 1, bytes: 32 }));
    expect(recordedTraffic(plans)).toEqual([
      { from: 0, to: 1, bytes: 32 },
      { from: 1, to: 0, bytes: 32, after: [0] },
    ]);
  });

  test('of a read is a transfer of the rank that is read', () => {
    const [plan] = planned([{ from: 0, to: 1, bytes: 8 }], 2);
    const read = {
      ...({ kind: 'post', op: 'read', channel: 0, peer: 1, after: [] } as const),
      local: { buffer: 'target', offset: 0, bytes: 8 } as const,
      remote: { offset: 0 },
    };
    const empty = { ...plan!, rank: 1, steps: [] };
    expect(recordedTraffic([{ ...plan!, steps: [read] }, empty])).toEqual([
      { from: 1, to: 0, bytes: 8 },
    ]);
  });
});

test('a plan of a trace has one wait per piece that its rank receives', () => {
  const { plan } = traceOf('trace', 2, [{ from: 0, to: 1, bytes: 1000 }]);
  const how = { channels: 4, strategy: strategies[1]! };
  expect(plan({ ...how, rank: 0 }).steps.filter(isWrite)).toHaveLength(4);
  expect(plan({ ...how, rank: 1 }).steps.filter(isWait)).toHaveLength(4);
});
