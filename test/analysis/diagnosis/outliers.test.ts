import { describe, expect, test } from 'vitest';
import { steadyOutliers } from '../../../src/analysis/diagnosis/outliers.js';
import { zipfMatrix } from '../../../src/benchmarks/all-to-all-single/imbalance.js';
import { summarize } from '../../../src/measure/statistics.js';
import { rankLoads } from '../../../src/plan/bound.js';
import { allToAllMatrixTraffic } from '../../../src/plan/patterns/all-to-all.js';
import { transfersTraffic } from '../../../src/plan/patterns/transfers.js';
import { multi } from '../../../src/plan/strategies.js';
import { formatRun } from '../../../src/results/formats/format-run.js';
import type { Row } from '../../../src/results/schema.js';
import { rankParts } from '../../../src/runner/row.js';
import { runOf, sampleRow } from '../../results/fixtures.js';

const world = 8;
const hosts = Array.from({ length: world }, (_, rank) => `h${rank}`);
const loadsOf = (imbalance: number) =>
  rankLoads(
    allToAllMatrixTraffic({ matrix: zipfMatrix(world, 64 << 10, imbalance, 'float32') }),
    multi,
    [],
    { hosts },
  );

/** A row in which rank r took `us[r]` microseconds. */
const rowOf = (us: readonly number[], loads: readonly number[]): Row =>
  sampleRow({
    column: 'mpi',
    bytes: 65_536,
    us: Math.max(...us),
    perRank: rankParts(
      us.map((one) => summarize([one * 1000])),
      hosts,
      loads,
    ),
  });

const accused = (us: readonly number[], loads: readonly number[]) =>
  steadyOutliers([rowOf(us, loads)], hosts).map(({ rank }) => rank);

/** A few per cent of difference, the same every time. */
const jitter = [1, 1.02, 0.99, 1.01, 0.98, 1, 1.01, 0.99];

describe.each([0.5, 1.2, 2, 3])('an exchange of zipf:%f', (imbalance) => {
  const loads = loadsOf(imbalance);
  const fair = loads.map((load, rank) => 200 * load * jitter[rank]!);

  test('gives rank 0 most to do', () => {
    expect(loads.indexOf(1)).toBe(0);
    expect(Math.max(...loads.slice(1))).toBeLessThan(0.95);
  });

  test('nobody is accused of the work it was given', () => {
    expect(accused(fair, loads)).toEqual([]);
  });

  test('nor of many ranks that send to it at once', () => {
    expect(accused(fair.with(0, 1.5 * fair[0]!), loads)).toEqual([]);
  });

  test('nor of waiting for the busiest', () => {
    expect(
      accused(
        jitter.map((one) => 200 * one),
        loads,
      ),
    ).toEqual([]);
    expect(accused(fair.with(5, fair[0]!), loads)).toEqual([]);
  });

  test('a rank that is slower than its own bytes explain is found', () => {
    expect(accused(fair.with(0, 2.5 * fair[0]!), loads)).toEqual([0]);
    expect(accused(fair.with(5, 2.5 * fair[0]!), loads)).toEqual([5]);
  });
});

test('senders to one rank are not accused of an unfair share of its line', () => {
  const transfers = hosts.slice(1).map((_, i) => ({ from: i + 1, to: 0, bytes: 64 << 10 }));
  const loads = rankLoads(transfersTraffic('incast', world, transfers), multi, [], { hosts });
  expect(accused([200, 60, 60, 60, 60, 70, 80, 200], loads)).toEqual([]);
});

test('in an even exchange the same times accuse rank 0', () => {
  expect(
    accused(
      loadsOf(1.2).map((load) => 200 * load),
      Array(world).fill(1),
    ),
  ).toContain(0);
});

test('the note says that bytes were counted', () => {
  const loads = loadsOf(1.2);
  const slow = loads.map((load) => 200 * load).with(3, 800);
  const run = runOf([rowOf(slow, loads)], {
    world: { ranks: world, hosts, launcher: 'local', hostOfRank: hosts },
  });
  expect(formatRun(run, 'table', { width: 200 })).toMatch(
    /rank 3 \(h3\) runs mpi at \d+ % of the speed of the other ranks, per byte; weft pairs/,
  );
});

test('peers on other hosts are not held against those on the same', () => {
  const places = ['a', 'a', 'a', 'a', 'a', 'b', 'b'];
  const times = [10, 10, 10, 10, 40, 40];
  const perPeer = times.map((us, i) => ({
    from: 0,
    to: i + 1,
    gbps: null,
    nanoseconds: summarize([us * 1000]),
  }));
  const row = sampleRow({ column: 'SinglePin', bytes: 65_536, us: 40, perPeer });
  expect(steadyOutliers([row], places)).toEqual([]);
  expect(steadyOutliers([row], Array(7).fill('a'))).not.toEqual([]);
});
