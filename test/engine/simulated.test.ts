import { describe, expect, test } from 'vitest';
import { simulatePlans } from '../../src/engine/simulated.js';
import { seededRandom } from '../../src/measure/seeded-random.js';
import { allToAll, allToAllMatrix, allToAllTraffic } from '../../src/plan/patterns/all-to-all.js';
import { oneToEach } from '../../src/plan/patterns/one-to-each.js';
import { pingPong } from '../../src/plan/patterns/ping-pong.js';
import { multi, roundRobin, type Strategy, single, strategies } from '../../src/plan/strategies.js';
import type { FabricModel } from '../../src/simulate/fabric-model.js';
import { periodOf } from '../../src/simulate/period.js';
import type { SimulatedWorld } from '../../src/simulate/wiring.js';
import { line, mebibyte, simOf, withParameters } from './simulated-fabric.js';

function exchange(
  sim: SimulatedWorld,
  strategy: Strategy,
  bytes: number,
  ranks?: number,
): number[] {
  const world = sim.nodes * sim.ranksPerNode;
  const plans = Array.from({ length: ranks ?? world }, (_, rank) =>
    allToAll({ world, bytes, rank, channels: 4, strategy }),
  );
  return [...simulatePlans({ world: sim, plans })];
}

function writing(sim: SimulatedWorld, strategy: Strategy, bytes: number, buffers = 1): number {
  const plans = Array.from({ length: sim.nodes }, (_, rank) =>
    oneToEach({ world: sim.nodes, from: 0, bytes, buffers, rank, channels: 4, strategy }),
  );
  return simulatePlans({ world: sim, plans })[0]!;
}

describe('times that can be written down', () => {
  test('a ping-pong is two messages, each with its cost and one more per further chunk', () => {
    const bytes = 4 * mebibyte;
    const plans = [0, 1].map((rank) => pingPong({ world: 2, a: 0, b: 1, bytes, rank }));
    const [time] = simulatePlans({ world: simOf(2), plans });
    expect(time).toBeCloseTo(2 * (60_000 + 3 * 1000 + line(bytes)), 3);
  });

  test('a write is its bytes at the rate of a NIC, and the cost of a write', () => {
    expect(writing(simOf(2), single, 8 * mebibyte)).toBeCloseTo(40_000 + line(8 * mebibyte), 3);
  });

  test('the last channel of a split write starts when the others are posted; three more complete', () => {
    const expected = 40_000 + 6 * 1000 + line(2 * mebibyte) + 3 * 5000;
    // The pieces end 2 us apart, so the CPU completes them as a queue: the last waits for those before it.
    const time = writing(simOf(2), multi, 8 * mebibyte);
    expect(time).toBeGreaterThan(expected - 3 * 5000);
    expect(time).toBeLessThanOrEqual(expected);
    const free = { ...simOf(2), fabric: withParameters({ splitMicroseconds: 0 }) };
    expect(writing(free, multi, 8 * mebibyte)).toBeCloseTo(expected - 15_000, 3);
  });

  test('a NIC that sends and receives reaches its share of the rate in each direction', () => {
    const sim = { ...simOf(8), fabric: withParameters({ chunkMicroseconds: 0 }) };
    const expected = 40_000 + line(7 * 4 * mebibyte) / 0.8;
    for (const time of exchange(sim, single, 4 * mebibyte)) expect(time).toBeCloseTo(expected, 2);
  });

  test('all NICs together get no more than host memory gives', () => {
    const limited = withParameters({ chunkMicroseconds: 0, splitMicroseconds: 0, hostGbps: 80 });
    const [time] = exchange({ ...simOf(4, { memory: 'host' }), fabric: limited }, multi, mebibyte);
    expect(time).toBeCloseTo(40_000 + 2 * line(3 * mebibyte), 2);
    const [device] = exchange({ ...simOf(4), fabric: limited }, multi, mebibyte);
    expect(device).toBeLessThan(time! / 2);
  });

  test('a bridge that two NICs share halves them, and leaves the other two alone', () => {
    const bridged: FabricModel = {
      ...withParameters({ chunkMicroseconds: 0, splitMicroseconds: 0 }),
      limits: [{ name: 'bridge', nics: [0, 1], gbps: 80 }],
    };
    const time = writing({ ...simOf(2), fabric: bridged }, multi, 4 * mebibyte);
    expect(time).toBeCloseTo(40_000 + 2 * line(mebibyte), 2);
  });

  test('ranks of a node do not use NICs towards each other', () => {
    const sim = {
      ...simOf(2, { ranksPerNode: 4 }),
      fabric: withParameters({ chunkMicroseconds: 0 }),
    };
    const [time] = exchange(sim, single, mebibyte);
    expect(time).toBeCloseTo(40_000 + line(4 * mebibyte) / 0.8, 2);
  });
});

describe('one period of ranks stands for all', () => {
  const worlds: [string, SimulatedWorld][] = [
    ['8 nodes', simOf(8)],
    ['20 nodes, more peers than a window holds', simOf(20)],
    ['4 nodes of 2 ranks', simOf(4, { ranksPerNode: 2 })],
    [
      'leaves of 2 nodes, oversubscribed, sprayed',
      simOf(8, { switches: { hostsPerLeaf: 2, oversubscription: 2, routing: 'spray', seed: 1 } }),
    ],
  ];
  test.each(worlds)('%s', (_, sim) => {
    for (const strategy of strategies) {
      const world = sim.nodes * sim.ranksPerNode;
      const traffic = allToAllTraffic({ world, bytes: mebibyte });
      const period = periodOf(traffic, strategy, sim);
      expect(period).toBeLessThan(world);
      const few = exchange(sim, strategy, mebibyte, period);
      for (const [rank, time] of exchange(sim, strategy, mebibyte).entries()) {
        expect(time / few[rank % period]! - 1).toBeCloseTo(0, 9);
      }
    }
  });

  test('where channels do not repeat, or a NIC is slow, every rank is simulated', () => {
    const traffic = allToAllTraffic({ world: 6, bytes: 1 });
    expect(periodOf(traffic, roundRobin, simOf(6))).toBe(6);
    const faults = [{ host: 1, nic: 0, rate: 0.5 }];
    expect(periodOf(traffic, single, simOf(6, { faults }))).toBe(6);
  });
});

describe('what makes a fabric slower', () => {
  test('a NIC at half its rate doubles the time of what goes through it', () => {
    const [bytes, time] = [64 * mebibyte, exchange(simOf(4), single, 64 * mebibyte)];
    const slow = simOf(4, { faults: [{ host: 2, nic: 0, rate: 0.5 }] });
    const ratio = exchange(slow, single, bytes)[2]! / time[2]!;
    expect(ratio).toBeGreaterThan(1.95);
    expect(ratio).toBeLessThan(2.01);
  });

  test('leaves oversubscribed 2:1 halve what crosses them; hashing is no better than spraying', () => {
    const crossing = (routing: 'ecmp' | 'spray', oversubscription: number, seed = 3) => {
      const switches = { hostsPerLeaf: 4, oversubscription, routing, seed } as const;
      return Math.max(...exchange(simOf(8, { switches }), multi, 16 * mebibyte));
    };
    expect(crossing('spray', 4) / crossing('spray', 2)).toBeGreaterThan(1.8);
    expect(crossing('ecmp', 1)).toBeGreaterThan(crossing('spray', 1));
    expect(crossing('ecmp', 2)).toBe(crossing('ecmp', 2));
    const seeds = [1, 2, 3, 4].map((seed) => crossing('ecmp', 2, seed));
    expect(new Set(seeds).size).toBeGreaterThan(1);
  });
});

test('a large irregular exchange keeps to its busiest link within a few per cent', () => {
  const random = seededRandom(5);
  const world = 80;
  const matrix = Array.from({ length: world }, () =>
    Array.from({ length: world }, () => Math.floor(mebibyte * random() ** 4)),
  );
  const plans = matrix.map((_, rank) =>
    allToAllMatrix({ matrix, rank, channels: 4, strategy: single }),
  );
  const free = withParameters({ duplexEfficiency: 1, chunkMicroseconds: 0, writeMicroseconds: 0 });
  const time = Math.max(...simulatePlans({ world: { ...simOf(world), fabric: free }, plans }));
  const sum = (rank: number, of: (other: number) => number) =>
    matrix.reduce((total, _, other) => total + (other === rank ? 0 : of(other)), 0);
  const busiest = Math.max(
    ...matrix.map((row, rank) =>
      Math.max(
        sum(rank, (other) => row[other]!),
        sum(rank, (other) => matrix[other]![rank]!),
      ),
    ),
  );
  expect(time).toBeGreaterThan(line(busiest) * 0.999);
  expect(time).toBeLessThan(line(busiest) * 1.05);
});
