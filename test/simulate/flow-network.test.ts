import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../src/measure/seeded-random.js';
import { FlowNetwork } from '../../src/simulate/flow-network.js';
import { MaxMin } from '../../src/simulate/max-min.js';

interface Flow {
  readonly path: readonly number[];
  readonly bytes: number;
  readonly start: number;
}

/** When each flow ends, in seconds; capacities are bytes per second. */
function endsOf(capacities: readonly number[], flows: readonly Flow[]): number[] {
  const network = new FlowNetwork(
    Float64Array.from(capacities),
    flows.map(({ path }) => path),
  );
  const ends = flows.map(() => Number.NaN);
  const waiting = [...flows.entries()].sort(([, a], [, b]) => a.start - b.start);
  for (;;) {
    const next = Math.min(waiting[0]?.[1].start ?? Number.POSITIVE_INFINITY, network.nextEnd());
    if (next === Number.POSITIVE_INFINITY) return ends;
    network.advance(next, (flow, at) => {
      ends[flow] = at;
    });
    while (waiting[0] && waiting[0][1].start <= next) {
      const [number, { bytes }] = waiting.shift()!;
      network.start(number, number, bytes);
    }
  }
}

describe('fair rates', () => {
  test('a flow limited elsewhere leaves its share to the others', () => {
    const fair = new MaxMin(Float64Array.of(10, 4), [[0], [0, 1], [1]]);
    fair.weights.fill(1);
    fair.solve();
    expect([...fair.rates]).toEqual([8, 2, 2]);
  });

  test('flows of a group count as often as there are', () => {
    const fair = new MaxMin(Float64Array.of(12), [[0], [0]]);
    fair.weights.set([3, 1]);
    fair.solve();
    expect([...fair.rates]).toEqual([3, 3]);
  });
});

describe('flows over time', () => {
  test('a flow that starts later shares, and the last one has the link alone', () => {
    const flows = [
      { path: [0], bytes: 1000, start: 0 },
      { path: [0, 1], bytes: 1000, start: 0.5 },
    ];
    expect(endsOf([1000, 500], flows)).toEqual([1.5, 2.5]);
  });

  test('what ends early while time moves on has its own time', () => {
    const network = new FlowNetwork(Float64Array.of(1), [[0]]);
    network.start(0, 0, 5);
    const ends: number[] = [];
    network.advance(100, (_, at) => ends.push(at));
    expect(ends).toEqual([5]);
  });

  test('SimGrid has the same times within 1 %', () => {
    const random = seededRandom(7);
    const capacities = Array.from({ length: 12 }, () => 1e9 * (1 + random()));
    const flows = Array.from({ length: 60 }, () => {
      const path = [0, 4, 8].map((first) => first + Math.floor(4 * random()));
      return { path, bytes: Math.round(1e6 * (1 + 9 * random())), start: 0.02 * random() };
    });
    const script = new URL('simgrid-flows.py', import.meta.url).pathname;
    // Debian's Python has SimGrid; another one on PATH may not.
    const oracle = spawnSync('/usr/bin/python3', [script], {
      input: JSON.stringify({ capacities, flows }),
      encoding: 'utf8',
    });
    expect(oracle.status, oracle.stderr).toBe(0);
    const theirs = JSON.parse(oracle.stdout) as number[];
    for (const [flow, end] of endsOf(capacities, flows).entries()) {
      expect(Math.abs(end / theirs[flow]! - 1)).toBeLessThan(0.01);
    }
  });
});
