import { describe, expect, test } from 'vitest';
import { multi, roundRobin, single } from '../../src/plan/strategies.js';
import { p5Fabric } from '../../src/reference/p5-fabric.js';
import { device } from '../../src/runner/columns.js';
import { advise } from '../../src/runner/predict/advise.js';

const ask = (buffers: number, bytes: number) =>
  advise({ fabric: p5Fabric, memory: device, buffers, bytes });
const G = 2 ** 30;

describe('advice for p5', () => {
  test('three large buffers are split, since round-robin leaves a NIC idle', () => {
    const { best, reason, times } = ask(3, G);
    expect(best).toBe(multi);
    expect(reason).toContain('round-robin uses only 3 of the 4 NICs');
    const [, byTurns, split] = times.map(({ nanoseconds }) => nanoseconds);
    expect(byTurns! / split!).toBeGreaterThan(1.3);
  });

  test('many buffers take turns, small ones stay on one NIC', () => {
    expect(ask(8, 64 * 2 ** 20).best).toBe(roundRobin);
    const small = ask(1, 4096);
    expect(small.best).toBe(single);
    expect(small.reason).toContain('one NIC is as fast as several');
  });

  test('where the answer changes agrees with the answers there', () => {
    const { flips, map } = ask(3, G);
    expect(flips.length).toBeGreaterThan(1);
    for (const { over, from, to } of flips) {
      expect((over === 'bytes' ? ask(3, from) : ask(from, G)).best).toBe(to);
    }
    expect(map[0]!.every((best) => best === single)).toBe(true);
  });
});
