import { expect, test } from 'vitest';
import { chart, seriesOf } from './drawn.js';
import * as made from './fixtures.js';

test('each peer and each rank has its bar', () => {
  const nanoseconds = made.row({ column: 'a', bytes: 8, us: 9 }).nanoseconds;
  const perPeer = [1, 2].map((to) => ({ from: 0, to, gbps: 10 * to, nanoseconds }));
  const rows = [made.row({ column: 'SinglePin', bytes: 1024, us: 5, perPeer })];
  const peers = chart([made.run('write', rows)], 'peers');
  expect((peers.option.xAxis as { data: string[] }).data).toEqual(['0 → 1', '0 → 2']);
  const ranks = chart([made.referenceRun('all2all')], 'ranks');
  expect((ranks.option.xAxis as { data: string[] }).data[3]).toBe('rank 3 node-4');
});

test('the bound of each rank stands beside its time, unless start times decide it', () => {
  const { nanoseconds } = made.row({ column: 'a', bytes: 8, us: 9 });
  const perRank = [1, 0.25].map((load, rank) => ({ rank, nanoseconds, load }));
  const sample = { column: 'MultiPin', bytes: 1_000_000, us: 50, allowedGbps: 200, perRank };
  const incast = made.run('incast', [made.row({ ...sample, boundGbps: 200 })]);
  const [measured, bound] = seriesOf(chart([incast], 'ranks'));
  expect([measured!.name, bound!.name]).toEqual(['MultiPin', 'MultiPin bound']);
  // 8 Mbit at 200 Gbps take 40 us.
  const bounds = (bound!.data as number[][]).map(([, value]) => value! / 1000);
  expect([bounds[0]!.toFixed(1), bounds[1]!.toFixed(1)]).toEqual(['40.0', '10.0']);
  const settings = { ...incast.settings, own: { rate: 1000 } };
  const late = made.run('kv', [made.row({ ...sample, boundGbps: 190 })], { settings });
  expect(seriesOf(chart([late], 'ranks'))).toHaveLength(1);
});
