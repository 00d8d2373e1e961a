import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { OwnPace } from '../../src/benchmarks/pairs/own-pace.js';

test('what a process did not run is counted, once', async () => {
  const pace = new OwnPace(3);
  await pace.during(async () => {
    await sleep(5);
    const until = performance.now() + 60;
    while (performance.now() < until); // as if stopped: the timer cannot fire
  });
  const seen = pace.take();
  expect(seen).toMatchObject({ rank: 3 });
  expect(seen.longestMs).toBeGreaterThan(50);
  expect(seen.lostMs).toBeGreaterThanOrEqual(seen.longestMs);
  expect(seen.wallMs).toBeGreaterThan(seen.lostMs);
  expect(pace.take()).toMatchObject({ wallMs: 0, lostMs: 0 });
});
