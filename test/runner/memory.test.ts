import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { childrenOf, Desk, readProc } from '../benchmarks/weft.js';

const MiB = 2 ** 20;
const allowance = 150 * MiB;

test('a rank takes its buffers and at most 150 MB besides', async () => {
  using desk = new Desk();
  const bytes = 64 * MiB;
  const ranks = 3;
  const job = desk.start(
    `all2all -b ${bytes} -e ${bytes} --ranks ${ranks} -n 5 --columns SinglePin`,
  );
  const peaks = new Map<number, number>();
  let running = true;
  const ended = job.finally(() => {
    running = false;
  });
  while (running) {
    for (const pid of childrenOf(job.pid!))
      peaks.set(pid, Math.max(peaks.get(pid) ?? 0, peakOf(pid)));
    await sleep(20);
  }
  expect((await ended).exitCode).toBe(0);
  const buffers = 2 * ranks * bytes;
  expect(peaks.size).toBe(ranks);
  for (const peak of peaks.values()) {
    expect(peak).toBeGreaterThan(buffers);
    expect(peak).toBeLessThan(buffers + allowance);
  }
});

/** The most memory it ever had. */
const peakOf = (pid: number): number =>
  Number(/^VmHWM:\s+(\d+) kB$/m.exec(readProc(`${pid}/status`))?.[1] ?? 0) * 1024;
