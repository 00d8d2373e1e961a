import { describe, expect, test } from 'vitest';
import { boundOfTraffic } from '../../src/plan/bound.js';
import { kvTraffic } from '../../src/plan/patterns/kv.js';
import { moeTraffic } from '../../src/plan/patterns/moe.js';
import { MoeLayout } from '../../src/plan/patterns/moe-layout.js';
import type { Routing } from '../../src/plan/routing.js';
import { multi, single } from '../../src/plan/strategies.js';
import { routingOf } from './drawn-routing.js';

const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0);

/** A byte per nanosecond. */
const nics = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ nic: `nic${i}`, lineRateGbps: 8 }));

describe('the bound of an expert layer', () => {
  const routing = routingOf({
    ...{ world: 6, tokens: 200, experts: 12, topK: 3, seed: 4 },
    ...{ popularity: { kind: 'zipf', exponent: 1.2 }, placement: 'block' },
  });
  const layer = { routing, dispatchBytes: 1024, combineBytes: 2048, microBatches: 2, slices: 2 };

  /** Tokens from rank to rank, each once however many of its experts are there. */
  function counted({ world, tokens, hostOf }: Routing): number[][] {
    const matrix = Array.from({ length: world }, () => Array<number>(world).fill(0));
    for (const [origin, { count, starts, experts }] of tokens.entries()) {
      for (let token = 0; token < count; token++) {
        const chosen = [...experts.subarray(starts[token], starts[token + 1])];
        for (const rank of new Set(chosen.map((expert) => hostOf[expert]!)))
          matrix[origin]![rank]!++;
      }
    }
    return matrix;
  }

  /** What places send and receive, place by place; the ranks of a place share its NICs. */
  function loads(phase: 'dispatch' | 'combine' | 'both', placeOf: readonly number[]) {
    const there = phase === 'combine' ? 0 : layer.dispatchBytes;
    const back = phase === 'dispatch' ? 0 : layer.combineBytes;
    const out = Array<number>(Math.max(...placeOf) + 1).fill(0);
    const into = [...out];
    for (const [origin, row] of counted(routing).entries()) {
      for (const [rank, copies] of row.entries()) {
        const [from, to] = [placeOf[origin]!, placeOf[rank]!];
        if (from === to) continue;
        out[from]! += copies * there;
        into[to]! += copies * there;
        out[to]! += copies * back;
        into[from]! += copies * back;
      }
    }
    return { out, into };
  }

  describe.each([
    ['ranks with NICs of their own', [0, 1, 2, 3, 4, 5]],
    ['hosts whose ranks share NICs', [0, 0, 1, 1, 2, 2]],
  ])('on %s', (_, placeOf) => {
    const wiring = { hosts: placeOf.map(String) };
    test.each(['dispatch', 'combine', 'both'] as const)(
      'is what the busiest NIC carries in %s, not what NICs carry on average',
      (phase) => {
        const traffic = moeTraffic(new MoeLayout({ ...layer, phase }));
        const { out, into } = loads(phase, placeOf);
        const most = Math.max(...out, ...into);
        expect(boundOfTraffic(traffic, single, nics(1), wiring).nanoseconds).toBe(most);
        expect(boundOfTraffic(traffic, multi, nics(2), wiring).nanoseconds).toBe(most / 2);
        expect(most).toBeGreaterThan((1.2 * sum(out)) / out.length);
      },
    );
  });
});

describe('the bound of a hand-off of caches', () => {
  const requestBytes = 2 * 3 * 512;
  const kv = { layers: 2, pages: 3, pageBytes: 512, fragmentation: 0.5, coalesce: true, seed: 1 };

  test.each([
    // One rank sends them all.
    [1, 3, 8, 8],
    // Prefill ranks have 3, 2 and 2 requests, decode ranks 3 and 4.
    [3, 2, 7, 4],
    // One rank receives them all.
    [2, 1, 5, 5],
  ])('of %i to %i ranks with %i requests is %i of them', (prefill, decode, requests, most) => {
    for (const pull of [false, true]) {
      const traffic = kvTraffic({
        ...kv,
        world: prefill + decode,
        prefill,
        decode,
        requests,
        pull,
      });
      expect(boundOfTraffic(traffic, single, nics(1)).nanoseconds).toBe(most * requestBytes);
    }
  });

  test('is the last arrival and what arrives then, where requests arrive slowly', () => {
    const traffic = kvTraffic({ ...kv, world: 2, requests: 3, arrivals: [0, 50_000, 50_000] });
    expect(boundOfTraffic(traffic, single, nics(1)).nanoseconds).toBe(50_000 + 2 * requestBytes);
  });
});
