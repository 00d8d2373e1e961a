import { describe, expect, test } from 'vitest';
import { traceOf } from '../../src/plan/patterns/trace.js';
import {
  coveredRoundTrips,
  type VictimLoad,
  victimLoads,
  victimTransfers,
} from '../../src/plan/patterns/victim.js';
import { single } from '../../src/plan/strategies.js';
import { Interpreter } from './interpreter.js';

const options = {
  ...{ pair: [0, 1] as const, others: [2, 3, 4], bytes: 8, roundTrips: 3 },
  loadBytes: 200 * 1024,
};

const victims = (load: VictimLoad) => victimTransfers({ ...options, load });

describe('a pair among others', () => {
  test.each(victimLoads)('plays and is told of the load, however ranks run (%s)', (load) => {
    const { transfers } = victimTransfers({ ...options, load, loadBytes: 3000 });
    const { plan } = traceOf('victim', 5, transfers);
    const plans = [0, 1, 2, 3, 4].map((rank) => plan({ rank, channels: 1, strategy: single }));
    let ended = 0;
    new Interpreter(plans, 1, 2).run(() => ended++);
    expect(ended).toBe(10);
  });

  test('sends one ping at a time', () => {
    const { transfers, pongs } = victims('incast');
    const pings = transfers.filter(({ from, to }) => from === 0 && to === 1);
    expect(pings.map(({ after }) => after)).toEqual([undefined, [pongs[0]], [pongs[1]]]);
    const goes = transfers.filter(({ from, to }) => from === 0 && to > 1);
    expect(goes.map(({ after }) => after)).toEqual(Array(3).fill([pongs[0]]));
  });

  test.each([
    ['incast', { 2: [0], 3: [0], 4: [0] }],
    ['all2all', { 2: [3, 4], 3: [2, 4], 4: [2, 3] }],
  ] as const)('is loaded by %s', (load, targets) => {
    const { transfers } = victims(load);
    for (const [from, to] of Object.entries(targets)) {
      const bulk = transfers.filter((one) => one.from === Number(from) && one.bytes > 8);
      expect([...new Set(bulk.map((one) => one.to))]).toEqual(to);
      expect(bulk.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(options.loadBytes);
    }
  });

  test('is not touched by a permutation of the others', () => {
    const bulk = victims('permute').transfers.filter(({ bytes }) => bytes > 8);
    expect(new Set(bulk.map(({ from }) => from))).toEqual(new Set([2, 3, 4]));
    expect(new Set(bulk.map(({ to }) => to))).toEqual(new Set([2, 3, 4]));
  });
});

describe('round trips that count', () => {
  const pongs = [10, 20, 31, 43, 56, 70, 85];

  test('are all but the first of a pair that is alone', () => {
    expect(coveredRoundTrips({ pongs, started: [], ended: [] })).toEqual([10, 11, 12, 13, 14, 15]);
  });

  test('are those of which half falls between the first start and the last end', () => {
    const covered = coveredRoundTrips({ pongs, started: [30, 24], ended: [50, 64] });
    expect(covered).toEqual([11, 12, 13, 14]);
    expect(coveredRoundTrips({ pongs, started: [26], ended: [62] })).toEqual([12, 13]);
  });

  test('are those that hold half of a short load', () => {
    expect(coveredRoundTrips({ pongs, started: [33], ended: [36] })).toEqual([12]);
  });

  test('are none where the load was over before', () => {
    expect(coveredRoundTrips({ pongs, started: [5], ended: [9] })).toEqual([]);
  });
});
