import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  allowedLineRateGbps,
  boundOfTraffic,
  loadOfTraffic,
  rankLoads,
} from '../../src/plan/bound.js';
import { allToAllMatrixTraffic, allToAllTraffic } from '../../src/plan/patterns/all-to-all.js';
import { oneToEachTraffic } from '../../src/plan/patterns/one-to-each.js';
import { pingPong, pingPongTraffic } from '../../src/plan/patterns/ping-pong.js';
import { multi, roundRobin, single } from '../../src/plan/strategies.js';
import type { Block, Traffic } from '../../src/plan/traffic.js';
import { writePlan } from '../../src/plan/write-plan.js';
import { arbitraryChannels, arbitraryStrategy, arbitraryTraffic, ranksOf } from './arbitrary.js';
import { loadOfPlans } from './load-of-plans.js';

const nics = (count: number, lineRateGbps?: number) =>
  Array.from({ length: count }, (_, i) => ({ nic: `nic${i}`, lineRateGbps }));

describe('the bound', () => {
  const bytes = 1_000_000;

  test('of a write is its bytes at the line rate', () => {
    const traffic = oneToEachTraffic({ world: 2, from: 0, bytes });
    expect(boundOfTraffic(traffic, single, nics(1, 100))).toEqual({
      nanoseconds: 80_000,
      fraction: 1,
    });
  });

  test('counts the NICs of a host once for all its ranks, and nothing that stays inside', () => {
    const traffic = allToAllTraffic({ world: 4, bytes });
    const hosts = ['a', 'a', 'b', 'b'];
    // Each of two ranks sends to two ranks of the other host.
    expect(boundOfTraffic(traffic, single, nics(1, 100), { hosts }).nanoseconds).toBe(4 * 80_000);
    // On one host there is no line between ranks but their own.
    expect(
      boundOfTraffic(traffic, single, nics(1, 100), { hosts: ['a', 'a', 'a', 'a'] }).nanoseconds,
    ).toBe(3 * 80_000);
  });

  test('gives ranks of one host that use different NICs each their own', () => {
    const traffic = allToAllTraffic({ world: 4, bytes });
    const hosts = ['a', 'a', 'b', 'b'];
    const own = [['n0'], ['n1'], ['n0'], ['n1']];
    const wiring = { hosts, nics: own };
    expect(boundOfTraffic(traffic, single, nics(1, 100), wiring).nanoseconds).toBe(2 * 80_000);
  });

  test('counts what stays inside a host where NICs carry that too', () => {
    const traffic = allToAllTraffic({ world: 2, bytes });
    const wiring = { hosts: ['a', 'a'], nics: [['n0'], ['n0']], localOverNics: true };
    expect(boundOfTraffic(traffic, single, nics(1, 100), wiring).nanoseconds).toBe(2 * 80_000);
  });

  test('of blocks that start late is their start and what their rank itself starts from then on', () => {
    const all = allToAllTraffic({ world: 3, bytes });
    const starting = (startedBy: Traffic['startedBy'], ...starts: number[]) => {
      const late = (blocks: readonly Block[]) =>
        blocks.map((block) => ({ ...block, notBefore: starts[block.target]! }));
      const traffic = {
        ...all,
        startedBy,
        outgoing: (rank: number) => late(all.outgoing(rank)),
        incoming: (rank: number) => late(all.incoming(rank)),
      };
      return boundOfTraffic(traffic, single, nics(1, 100)).nanoseconds;
    };
    expect(starting('source', 0, 0, 0)).toBe(160_000);
    // Ranks 0 and 2 send a block each to rank 1, but may be in different iterations.
    expect(starting('source', 0, 100_000, 0)).toBe(100_000 + 80_000);
    expect(starting('target', 0, 100_000, 0)).toBe(100_000 + 160_000);
    expect(starting('source', 0, 10_000, 50_000)).toBe(10_000 + 160_000);
    expect(starting('target', 0, 10_000, 50_000)).toBe(50_000 + 160_000);
  });

  test('of a split write is a quarter of that on four NICs', () => {
    const traffic = oneToEachTraffic({ world: 2, from: 0, bytes: 1_024_000 });
    expect(boundOfTraffic(traffic, multi, nics(4, 100)).nanoseconds).toBe(20_480);
  });

  test('of round-robin to 3 targets over 4 NICs is 75 % of them', () => {
    const traffic = oneToEachTraffic({ world: 4, from: 0, bytes });
    const bound = boundOfTraffic(traffic, roundRobin, nics(4, 100));
    expect(bound).toEqual({ nanoseconds: 80_000, fraction: 0.75 });
  });

  test('of ping-pong is both ways, one after the other', () => {
    const traffic = pingPongTraffic({ world: 2, a: 0, b: 1, bytes });
    expect(boundOfTraffic(traffic, single, nics(1, 100))).toEqual({
      nanoseconds: 160_000,
      fraction: 0.5,
    });
  });

  test('of all-to-all counts each direction on its own', () => {
    const traffic = allToAllTraffic({ world: 4, bytes });
    const bound = boundOfTraffic(traffic, single, nics(4, 100));
    expect(bound).toEqual({ nanoseconds: 240_000, fraction: 1 });
  });

  test('follows the receiver where it is the busier one', () => {
    const matrix = [
      [0, 0, 1000],
      [0, 0, 1000],
      [0, 0, 0],
    ];
    const bound = boundOfTraffic(allToAllMatrixTraffic({ matrix }), single, nics(1, 1));
    expect(bound.nanoseconds).toBe(16_000);
  });

  test('follows the slowest NIC', () => {
    const traffic = oneToEachTraffic({ world: 2, from: 0, bytes: 1280 });
    const links = [{ lineRateGbps: 100 }, { lineRateGbps: 10 }];
    expect(boundOfTraffic(traffic, multi, links).nanoseconds).toBe((640 * 8) / 10);
  });

  test('adds up channels that share a NIC', () => {
    const traffic = oneToEachTraffic({ world: 2, from: 0, bytes });
    const shared = [0, 1].map(() => ({ nic: 'eth0', lineRateGbps: 100 }));
    const bound = boundOfTraffic(traffic, multi, shared);
    expect(bound).toEqual({ nanoseconds: 80_000, fraction: 1 });
  });

  test('is unknown without a line rate, but the fraction is not', () => {
    const traffic = oneToEachTraffic({ world: 4, from: 0, bytes });
    const bound = boundOfTraffic(traffic, roundRobin, nics(4));
    expect(bound).toEqual({ nanoseconds: undefined, fraction: 0.75 });
  });

  test('needs no line rate of a channel that carries nothing', () => {
    const traffic = oneToEachTraffic({ world: 2, from: 0, bytes });
    const links = [{ lineRateGbps: 100 }, {}];
    expect(boundOfTraffic(traffic, single, links).nanoseconds).toBe(80_000);
  });

  test('of nothing is no time and no fraction', () => {
    const traffic = allToAllTraffic({ world: 1, bytes });
    const bound = boundOfTraffic(traffic, single, nics(1, 100));
    expect(bound).toEqual({ nanoseconds: 0, fraction: undefined });
  });

  test('in a world of 512 ranks and 16 channels has the bytes of 511 peers', () => {
    const traffic = allToAllTraffic({ world: 512, bytes: 16 * 1024 });
    const bound = boundOfTraffic(traffic, multi, nics(16, 100));
    expect(bound.nanoseconds).toBeCloseTo((511 * 1024 * 8) / 100);
  });
});

describe('the load', () => {
  test('from plans is the load from the traffic', () => {
    const property = fc.property(
      arbitraryTraffic(12, 3000),
      arbitraryStrategy,
      arbitraryChannels,
      (traffic, strategy, channels) => {
        const plans = ranksOf(traffic).map((rank) =>
          writePlan(traffic, { rank, strategy, channels }),
        );
        expect(loadOfPlans(plans)).toEqual(loadOfTraffic(traffic, strategy, channels));
      },
    );
    fc.assert(property);
  });

  test('of ping-pong plans is sequential', () => {
    const plans = [0, 1].map((rank) => pingPong({ rank, world: 2, a: 0, b: 1, bytes: 9 }));
    const traffic = pingPongTraffic({ world: 2, a: 0, b: 1, bytes: 9 });
    expect(loadOfPlans(plans)).toEqual(loadOfTraffic(traffic, single, 1));
  });
});

describe('the allowed line rate', () => {
  test('of Single is one channel’s', () => {
    expect(allowedLineRateGbps(single, nics(4, 100))).toBe(100);
  });

  test('of RoundRobin is all channels’, used or not', () => {
    expect(allowedLineRateGbps(roundRobin, nics(4, 100))).toBe(400);
  });

  test('is unknown when one of them is', () => {
    expect(allowedLineRateGbps(multi, [{ lineRateGbps: 100 }, {}])).toBeUndefined();
  });
});

describe('the load of a rank', () => {
  const matrix = (rows: readonly (readonly number[])[]) =>
    allToAllMatrixTraffic({ matrix: rows.map((row) => row.map((cell) => 1024 * cell)) });

  test('is 1 for all where all have as much to do', () => {
    const traffic = allToAllTraffic({ world: 3, bytes: 1000 });
    expect(rankLoads(traffic, single, nics(1, 100))).toEqual([1, 1, 1]);
  });

  test('is that of its busiest direction, over the busiest rank’s', () => {
    const traffic = matrix([
      [0, 100, 100],
      [400, 0, 100],
      [400, 100, 0],
    ]);
    expect(rankLoads(traffic, single, nics(1, 100))).toEqual([1, 500 / 800, 500 / 800]);
    // Without rates, links count as equal.
    expect(rankLoads(traffic, single, [])).toEqual([1, 500 / 800, 500 / 800]);
    expect(rankLoads(traffic, multi, nics(2))).toEqual([1, 500 / 800, 500 / 800]);
  });

  test('is that of the NICs it shares, without what stays inside its host', () => {
    const traffic = matrix([
      [0, 900, 100],
      [900, 0, 300],
      [100, 100, 0],
    ]);
    const wiring = { hosts: ['a', 'a', 'b'] };
    expect(rankLoads(traffic, single, nics(1, 100), wiring)).toEqual([1, 1, 1]);
  });
});
