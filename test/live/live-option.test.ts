import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { childrenOf, Desk, isAlive, liveAddress, readProc } from '../benchmarks/weft.js';

/** Long enough for a page of the lowest priority to be asked while it runs, on a machine with two cores. */
const line = 'write -b 4K -e 64K -f 4 --provider shm --budget-ms 1500 --columns SinglePin,MultiPin';

const bearerOf = (address: URL) => ({
  authorization: `Bearer ${address.searchParams.get('token')}`,
});

test('--live follows a run to its end, then ends, and says what that cost', async () => {
  using desk = new Desk();
  const child = desk.start(`${line} --live`);
  const address = await liveAddress(child);
  expect(address.pathname).toBe('/new');
  const folder = join(desk.folder, 'weft-results');
  const name = await vi.waitUntil(() => readdirSync(folder).find((one) => one.endsWith('.jsonl')), {
    timeout: 30_000,
    interval: 10,
  });
  const key = name.replace('.jsonl', '');
  const headers = bearerOf(address);
  const response = await fetch(`${address.origin}/api/runs/${key}/events`, { headers });
  const events = await response.text();
  expect(events).toContain('event: end\ndata: {"state":"passed"}');
  expect(events.match(/"line":"row"/g)!.length).toBeGreaterThanOrEqual(6);
  const { exitCode, stderr } = await child;
  expect(exitCode).toBe(0);
  expect(stderr).toMatch(
    /[1-9]\d* rows? shown to up to 1 viewer, using \S+ CPU seconds \(0\.\d+ per row\)/,
  );
  expect(stderr).toContain('to see the run again: weft serve weft-results');
});

test('the page’s process is of the lowest priority, and does not outlive the command', async () => {
  using desk = new Desk();
  const child = desk.start(`${line} --live`);
  await liveAddress(child);
  const page = childrenOf(child.pid!).find((pid) =>
    readProc(`${pid}/cmdline`).includes('--follower'),
  )!;
  expect(readProc(`${page}/stat`).split(') ')[1]!.split(' ')[16]).toBe('19');
  child.kill('SIGKILL');
  await child;
  while (isAlive(page)) await sleep(20);
});

test('viewers that come and go do not disturb the measurement', async () => {
  using desk = new Desk();
  const child = desk.start(`${line} --live`);
  const address = await liveAddress(child);
  const headers = bearerOf(address);
  for (let i = 0; i < 10; i++) {
    const leave = new AbortController();
    await fetch(`${address.origin}/api/runs/events`, { headers, signal: leave.signal });
    leave.abort();
  }
  expect((await child).exitCode).toBe(0);
  expect(desk.runs()[0]!.run.outcome).toBe('passed');
});

test('a page that cannot start is told, and the measurement goes on', async () => {
  using desk = new Desk();
  const { exitCode, stderr } = await desk.weft('write -b 4K -e 4K -n 5 --provider shm --live', {
    WEFT_PAGE_TOKEN: 'short',
  });
  expect(stderr).toContain('the live page server did not start');
  expect(exitCode).toBe(0);
});

test('bad usage starts no page', async () => {
  using desk = new Desk();
  const { exitCode, stderr } = await desk.weft('write --live --columns Nonsense');
  expect(exitCode).toBe(2);
  expect(stderr).not.toContain('live at');
});
