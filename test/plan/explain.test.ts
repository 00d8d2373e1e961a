import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { explain } from '../../src/plan/explain.js';
import { allToAllTraffic } from '../../src/plan/patterns/all-to-all.js';
import { moeTraffic } from '../../src/plan/patterns/moe.js';
import { MoeLayout } from '../../src/plan/patterns/moe-layout.js';
import { moePlan } from '../../src/plan/patterns/moe-plan.js';
import { oneToEachTraffic } from '../../src/plan/patterns/one-to-each.js';
import { pingPongTraffic } from '../../src/plan/patterns/ping-pong.js';
import { traceOf } from '../../src/plan/patterns/trace.js';
import { multi, roundRobin, single } from '../../src/plan/strategies.js';
import type { Block, Traffic } from '../../src/plan/traffic.js';
import { writePlan } from '../../src/plan/write-plan.js';
import { arbitraryChannels, arbitraryStrategy, arbitraryTraffic } from './arbitrary.js';
import { routingOf, usual } from './drawn-routing.js';

const links = (count: number, lineRateGbps?: number) =>
  Array.from({ length: count }, () => ({ lineRateGbps }));
const toThree = oneToEachTraffic({ world: 4, from: 0, bytes: 4 * 2 ** 20 });

describe('an explanation', () => {
  test('draws who writes what to whom on which channel, and the bound', () => {
    expect(explain({ traffic: toThree, strategy: roundRobin, links: links(4, 100) })).toBe(
      `one-to-each · RoundRobin: each buffer on channel (peer + rank) % channels
4 ranks · 4 channels · chunks of 1M, at most 16 in flight per channel

  rank 0 ─┬─ 4M ─ ch1 ─▶ rank 1  slot 0  at +0  4 chunks
          ├─ 4M ─ ch2 ─▶ rank 2  slot 0  at +0  4 chunks
          └─ 4M ─ ch3 ─▶ rank 3  slot 0  at +0  4 chunks

  channel      out       in   busiest rank of each channel
        0        0        0
        1       4M       4M   ████████████████████████
        2       4M       4M   ████████████████████████
        3       4M       4M   ████████████████████████

  arrivals  4 immediates on each of 3 ranks
  bound     335.5 us at best
            75.0 % of the 4 channels it may use (400 Gbps)
`,
    );
  });

  test('draws parts, reads and sums', () => {
    const parts = Array.from({ length: 300 }, (_, i) => ({
      ...{ sourceOffset: i * 4096, targetOffset: i * 8192, bytes: 1000 },
    }));
    const cut = (block: Block): Block => ({ ...block, bytes: 300_000, parts });
    const kv: Traffic = {
      ...toThree,
      outgoing: (rank) => toThree.outgoing(rank).map(cut),
      incoming: (rank) => toThree.incoming(rank).map(cut),
    };
    const strategy = single;
    const drawn = (traffic: Traffic) =>
      explain({ traffic, strategy, links: links(1, 100), chunkBytes: 600 });
    expect(drawn(kv)).toContain('293K ─ ch0 ─▶ rank 1  slot 0  in 300 parts  600 chunks');
    expect(drawn(kv)).toContain('600 immediates on each of 3 ranks');
    const read = drawn({ ...kv, readable: true });
    expect(read).toContain('ch0 ─▶ rank 1  read  in 300 parts  600 chunks');
    expect(read).toContain('arrivals  not counted: a read completes when its bytes have arrived');
    const added = drawn({
      ...kv,
      numbers: { dtype: 'bfloat16', weight: 1, of: () => [] },
      contents: () => [{ offset: 0, bytes: 2 ** 20, sumOf: [] }],
    });
    expect(added).toContain('sums      1M of bfloat16 on each of 4 ranks');
  });

  test('shows what comes after what, for all ranks that do the same at once', () => {
    const trace = traceOf('trace', 4, [
      { from: 0, to: 1, bytes: 2 ** 20 },
      { from: 1, to: 2, bytes: 2 ** 20, after: [0] },
      { from: 2, to: 3, bytes: 2 ** 10, after: [1] },
      { from: 2, to: 0, bytes: 0, after: [1, 2] },
    ]);
    const { traffic } = trace;
    const how = { strategy: single, links: links(1, 100) };
    const planOf = (rank: number) => trace.plan({ rank, channels: 1, strategy: single });
    expect(explain({ traffic, ...how, planOf })).toContain(`
  order on rank 0
    1 write, 1M              at once
  order on rank 1
    1 write, 1M              after 1 arrival
  order on rank 2
    1 write, 1K              after 1 arrival
    1 empty write            after 1 arrival + 1 write
`);
    const all = allToAllTraffic({ world: 4, bytes: 1000 });
    const together = (rank: number) => writePlan(all, { rank, channels: 1, strategy: single });
    expect(explain({ traffic: all, ...how, planOf: together })).not.toContain('order');
  });

  test('of an expert layer tells overlap from its absence', () => {
    const routing = routingOf({ ...usual, world: 3, tokens: 24, seed: 5 });
    const layout = new MoeLayout({
      ...{ routing, dispatchBytes: 64, combineBytes: 128 },
      ...{ phase: 'both', microBatches: 2, slices: 1 },
    });
    const drawn = (overlap: boolean) =>
      explain({
        ...{ traffic: moeTraffic(layout), strategy: single, links: links(1) },
        planOf: (rank) => moePlan(layout, { rank, channels: 1, strategy: single, overlap }),
      });
    const second = /writes, .* after \d+ writes \+ .* arrivals \+ 1 sum each/;
    expect(drawn(false)).toMatch(second);
    expect(drawn(true)).not.toMatch(second);
    expect(drawn(true)).toContain('order on ranks 0, 1, 2');
  });

  test('of times within an iteration has no bound', () => {
    const traffic = oneToEachTraffic({ world: 2, from: 0, bytes: 8 });
    const text = explain({ traffic, strategy: single, links: links(1, 100), unbounded: true });
    expect(text).toContain('bound     none');
    expect(text).not.toContain('at best');
  });

  test('names the channels a block is split over', () => {
    const text = explain({ traffic: toThree, strategy: multi, links: links(4, 100) });
    expect(text).toContain('4M ─ ch0-3 ─▶ rank 1  slots 0-3  at +0  4 chunks');
  });

  test('says that the bound is unknown without line rates', () => {
    const text = explain({ traffic: toThree, strategy: roundRobin, links: links(4) });
    expect(text).toContain('bound     unknown: no line rate');
  });

  test('says that ping-pong goes one way at a time', () => {
    const traffic = pingPongTraffic({ world: 2, a: 0, b: 1, bytes: 8 });
    const text = explain({ traffic, strategy: single, links: links(1, 100) });
    expect(text).toContain('each message starts when the one before it has arrived');
  });

  test('counts what it does not draw in a big world', () => {
    const traffic = allToAllTraffic({ world: 512, bytes: 1000 });
    const text = explain({ traffic, strategy: single, links: links(1, 100) });
    expect(text).toContain('⋮ 506 more blocks');
    expect(text).toContain('⋮ 509 more ranks send in the same way');
  });

  test('of a lone rank says that nothing is sent', () => {
    const traffic = allToAllTraffic({ world: 1, bytes: 1000 });
    const text = explain({ traffic, strategy: single, links: links(1, 100) });
    expect(text).toContain('nothing is sent');
    expect(text).not.toContain('Infinity');
  });

  test('can do without Unicode', () => {
    const text = explain({ traffic: toThree, strategy: multi, links: links(4, 9), unicode: false });
    expect(text).toMatch(/^[ -~\n]+$/);
  });

  test('fits 80 columns', () => {
    const property = fc.property(
      arbitraryTraffic(64, 2 ** 41 - 1),
      arbitraryStrategy,
      arbitraryChannels,
      fc.integer({ min: 4096, max: 2 ** 31 }),
      (traffic, strategy, channels, chunkBytes) => {
        const text = explain({ traffic, strategy, links: links(channels, 12.5), chunkBytes });
        for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
      },
    );
    fc.assert(property, { numRuns: 200 });
  });
});
