import { describe, expect, test } from 'vitest';
import { benchmarkById } from '../../src/benchmarks/index.js';
import { simulatePlans } from '../../src/engine/simulated.js';
import { allToAll, allToAllTraffic } from '../../src/plan/patterns/all-to-all.js';
import { multi, type Strategy, strategies } from '../../src/plan/strategies.js';
import { p5Fabric } from '../../src/reference/p5-fabric.js';
import type { PlanBenchmark } from '../../src/runner/benchmark.js';
import { jobOf } from '../../src/runner/job.js';
import { predictRun } from '../../src/runner/predict/predict-run.js';
import { periodOf } from '../../src/simulate/period.js';
import type { SimulatedWorld } from '../../src/simulate/wiring.js';
import { line, mebibyte, simOf, withParameters } from './simulated-fabric.js';

/** The slowest of the first `ranks` ranks, which stand for all. */
function exchange(
  sim: SimulatedWorld,
  strategy: Strategy,
  bytes: number,
  how: { ranks?: number; window?: number } = {},
): number {
  const world = sim.nodes * sim.ranksPerNode;
  const { ranks = world, ...pacing } = how;
  const plans = Array.from({ length: ranks }, (_, rank) =>
    allToAll({ world, bytes, rank, channels: 4, strategy, ...pacing }),
  );
  return Math.max(...simulatePlans({ world: sim, plans }));
}

describe('completions on further channels, 5 us each', () => {
  const fabric = withParameters({ chunkMicroseconds: 0 });
  const split = (nodes: number, bytes: number, window: number) =>
    exchange(simOf(nodes, { fabric }), multi, bytes, { ranks: 1, window });

  test('of no more peers than the window holds, all are left for the end', () => {
    expect(split(17, 4 * mebibyte, 16)).toBe(split(17, 4 * mebibyte, 1000));
    const saved = split(18, 4 * mebibyte, 1000) - split(18, 4 * mebibyte, 16);
    expect(saved).toBeCloseTo(3 * 5000, 0);
  });

  test('of more, those of the last window are; the others are handled during the transfers', () => {
    const expected = 40_000 + line(64 * mebibyte) / 0.8 + 3 * 16 * 5000;
    expect(split(65, 4 * mebibyte, 16)).toBeCloseTo(expected, 0);
  });

  test('tiny pieces still wait for the CPU', () => {
    const time = split(257, 256, 16);
    expect(time).toBeGreaterThan(3 * 256 * 5000);
    expect(time).toBeLessThan(3 * 256 * 5000 + 2 * 40_000);
  });
});

test('host memory over several NICs costs its fixed time once, however many steps depend on each other', () => {
  const benchmark = benchmarkById('allreduce') as PlanBenchmark;
  const sizes = { minBytes: 8 * mebibyte, maxBytes: 8 * mebibyte, algorithm: 'ring' };
  const job = { ...jobOf(benchmark, { ...sizes, columns: ['MultiPin'] }), benchmark };
  const timeWith = (hostMicroseconds: number) => {
    const parameters = { ...p5Fabric.parameters, hostMicroseconds };
    const fabric = { ...p5Fabric, parameters };
    return predictRun({ job, world: { fabric, nodes: 8, ranksPerNode: 1 } }).rows[0]!.nanoseconds!
      .mean;
  };
  expect(timeWith(2000) - timeWith(0)).toBeCloseTo(2e6, 0);
});

describe('hosts below sprayed leaves as if they were alike', () => {
  const leaves = (hostsPerLeaf: number, oversubscription: number) =>
    ({ hostsPerLeaf, oversubscription, routing: 'spray', seed: 1 }) as const;

  test.each([
    [16, 1, 8],
    [8, 2, 4],
    [12, 2, 3],
  ])(
    '%i nodes of %i ranks, %i per leaf: near the simulation of all',
    (nodes, ranksPerNode, hosts) => {
      for (const oversubscription of [1, 2, 4]) {
        const switches = leaves(hosts, oversubscription);
        const sim = simOf(nodes, { ranksPerNode, switches, fabric: p5Fabric });
        for (const strategy of strategies) {
          const ranks = ranksPerNode === 1 ? strategy.rankPeriod(4) : ranksPerNode;
          const ratio = (bytes: number) =>
            exchange(sim, strategy, bytes, { ranks }) / exchange(sim, strategy, bytes);
          expect(Math.abs(ratio(mebibyte) - 1)).toBeLessThan(0.05);
          expect(Math.abs(ratio(16 * mebibyte) - 1)).toBeLessThan(0.01);
        }
      }
    },
  );

  test('count so only where the exact period is too large and the exchange is uniform', () => {
    const periodAt = (nodes: number, more = {}) => {
      const traffic = allToAllTraffic({ world: 8 * nodes, bytes: mebibyte });
      const sim = simOf(nodes, { ranksPerNode: 8, switches: leaves(32, 2) });
      return periodOf({ ...traffic, ...more }, multi, sim);
    };
    expect(periodAt(64)).toBe(256);
    expect(periodAt(1024)).toBe(8);
    const nearest = allToAllTraffic({ world: 8 * 1024, bytes: mebibyte });
    const uneven = { outgoing: (rank: number) => nearest.outgoing(rank).slice(1) };
    expect(periodAt(1024, uneven)).toBe(256);
  });
});
