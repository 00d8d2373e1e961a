import { describe, expect, test } from 'vitest';
import { summarize } from '../../src/measure/statistics.js';
import { mergeRepeats } from '../../src/results/repeats.js';
import type { Row } from '../../src/results/schema.js';
import { runOf, sampleRow } from './fixtures.js';

const times = (us: number) => summarize([us * 1000 - 10, us * 1000, us * 1000 + 10]);
const merged = (...rows: Row[]): Row => {
  const repeats = rows.map((row, repeat) => ({ ...row, repeat }));
  const [only, ...more] = mergeRepeats(runOf(repeats)).rows;
  expect(more).toEqual([]);
  return only!;
};
const row = (us: number, more: Partial<Row> = {}): Row => ({
  ...sampleRow({ column: 'SinglePin', bytes: 1024, us }),
  ...more,
});

describe('repeats as one row', () => {
  test('have the mean over all iterations, and the rate that follows', () => {
    const all = merged(row(10), row(30));
    expect(all.nanoseconds!.mean).toBeCloseTo(20_000, 6);
    expect(all.gbps).toBeCloseTo((1024 * 8) / 20_000, 9);
    expect(all.iterations).toBe(6);
  });

  test('keep their mean where a page has only some of the samples', () => {
    const thin = (us: number) => row(us, { samples: [us * 1000 - 10] });
    expect(merged(thin(10), thin(30)).nanoseconds!.mean).toBeCloseTo(20_000, 6);
  });

  test('have each peer and rank over all repeats', () => {
    const peers = (us: number) => [
      { from: 0, to: 1, gbps: 8192 / (us * 1000), nanoseconds: times(us) },
    ];
    const ranks = (us: number) => [{ rank: 3, host: 'd', nanoseconds: times(us) }];
    const all = merged(
      row(10, { perPeer: peers(10), perRank: ranks(10) }),
      row(30, { perPeer: peers(30), perRank: ranks(30) }),
    );
    const whole = { min: 9990, max: 30_010 };
    expect(all.perPeer![0]).toMatchObject({ from: 0, to: 1, nanoseconds: whole });
    expect(all.perPeer![0]!.nanoseconds!.mean).toBeCloseTo(20_000, 6);
    expect(all.perPeer![0]!.gbps).toBeCloseTo(8192 / 20_000, 9);
    expect(all.perRank![0]).toMatchObject({ rank: 3, host: 'd' });
    expect(all.perRank![0]!.nanoseconds!.mean).toBeCloseTo(20_000, 6);
  });

  test('have a breakdown, a peak, a loss and what was sent again of all', () => {
    const broken = (p50: number, requests: number) => ({
      stages: [{ name: 'push', p50, p95: 2 * p50 }],
      requests,
      clockUncertaintyNanoseconds: p50 / 100,
    });
    const all = merged(
      row(10, { breakdown: broken(100, 30), peakGbps: 10, lossPercent: 4, resent: 1 }),
      row(10, { breakdown: broken(200, 10), peakGbps: 20, lossPercent: 8, resent: 2 }),
    );
    expect(all.breakdown).toEqual({
      stages: [{ name: 'push', p50: 125, p95: 250 }],
      requests: 40,
      clockUncertaintyNanoseconds: 2,
    });
    expect(all).toMatchObject({ peakGbps: 15, lossPercent: 6, resent: 3 });
  });

  test('leave out what one of them lacks', () => {
    const all = merged(row(10, { peakGbps: 10 }), row(10));
    expect(all.peakGbps).toBeUndefined();
    expect(JSON.parse(JSON.stringify(all))).not.toHaveProperty('peakGbps');
  });
});
