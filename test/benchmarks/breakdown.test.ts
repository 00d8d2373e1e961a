import { expect, test } from 'vitest';
import { breakdownOf } from '../../src/benchmarks/proxy/modes.js';

test('a stage that no request showed is absent, not 0', () => {
  // Pushed, popped, posted, delivered, and never seen.
  const trace = Float64Array.of(10, 30, 60, 100, 0, 20, 40, 70, 110, 0);
  const { stages, requests } = breakdownOf({
    trace,
    samples: new Float64Array(),
    clockUncertainty: 0,
  });
  expect(requests).toBe(2);
  expect(stages).toEqual([
    { name: 'push → pop', p50: 20, p95: 20 },
    { name: 'pop → post', p50: 30, p95: 30 },
    { name: 'post → delivered', p50: 40, p95: 40 },
  ]);
});
