import { describe, expect, test } from 'vitest';
import { multi, roundRobin, single } from '../../src/plan/strategies.js';
import { p5Fabric } from '../../src/reference/p5-fabric.js';
import { device } from '../../src/runner/columns.js';
import { advise, fastest } from '../../src/runner/predict/advise.js';

const ask = (buffers: number, bytes: number) =>
  advise({ fabric: p5Fabric, memory: device, buffers, bytes });
const bestFor = (buffers: number, bytes: number) =>
  fastest({ fabric: p5Fabric, memory: device, buffers, bytes });
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

  test.each([
    [3, G],
    [1, 2 ** 18],
    [9, 2 ** 20],
  ])('where the answer changes agrees with the answers around it: %i × %i', (buffers, bytes) => {
    const { spans } = ask(buffers, bytes);
    const sizes = spans.filter(({ over }) => over === 'bytes');
    const counts = spans.filter(({ over }) => over === 'buffers');
    for (const { from, to, best } of sizes) {
      for (const size of [from, Math.round(Math.sqrt(from * to)), to]) {
        expect(bestFor(buffers, size), `${size}`).toBe(best);
      }
    }
    for (const [i, { from }] of sizes.slice(1).entries()) {
      expect(from / sizes[i]!.to).toBeLessThan(1.03);
    }
    for (let count = 1; count <= 16; count++) {
      const span = counts.find(({ from, to }) => from <= count && count <= to);
      expect(bestFor(count, bytes), `${count}`).toBe(span?.best);
    }
  });

  test.each([17, 18, 40])('the answer for %i buffers stands alone beside 1 to 16', (buffers) => {
    const { best, spans } = ask(buffers, 2 ** 24);
    const counts = spans.filter(({ over }) => over === 'buffers');
    const at = (count: number) => counts.find(({ from, to }) => from <= count && count <= to);
    expect(at(buffers)!.best).toBe(best);
    const covered = counts.reduce((sum, { from, to }) => sum + to - from + 1, 0);
    expect(covered).toBe(17);
  });

  test('large buffers take turns only at some multiples of the number of NICs', () => {
    const counts = ask(3, G).spans.filter(({ over, best }) => over === 'buffers' && best !== multi);
    expect(counts.map(({ from, to }) => [from, to])).toEqual([8, 12, 16].map((n) => [n, n]));
    expect(ask(3, G).map[0]!.every((best) => best === single)).toBe(true);
  });
});
