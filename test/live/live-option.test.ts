import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { childrenOf, Desk, isAlive, readProc } from '../bench/weft.js';

const line = 'write -b 4K -e 64K -f 4 --provider shm --budget-ms 100 --columns SinglePin,MultiPin';

async function addressOf(child: ReturnType<Desk['start']>): Promise<URL> {
  let text = '';
  child.stderr!.on('data', (piece) => {
    text += piece;
  });
  while (!/live at \S+\n/.test(text)) await sleep(10);
  return new URL(/live at (\S+)/.exec(text)![1]!);
}

const bearerOf = (address: URL) => ({
  authorization: `Bearer ${address.searchParams.get('token')}`,
});

test('--live follows a run to its end, then ends, and says what that cost', async () => {
  using desk = new Desk();
  const child = desk.start(`${line} --live`);
  const address = await addressOf(child);
  expect(address.pathname).toBe('/new');
  const folder = join(desk.folder, 'weft-results');
  while (readdirSync(folder).length === 0) await sleep(10);
  const key = readdirSync(folder)[0]!.replace('.jsonl', '');
  const headers = bearerOf(address);
  const response = await fetch(`${address.origin}/api/runs/${key}/events`, { headers });
  const events = await response.text();
  expect(events).toContain('event: end\ndata: {"state":"passed"}');
  expect(events.match(/"line":"row"/g)!.length).toBeGreaterThanOrEqual(6);
  const { exitCode, stderr } = await child;
  expect(exitCode).toBe(0);
  expect(stderr).toMatch(
    /[1-9]\d* rows? followed by at most 1 viewer: \S+ CPU seconds, 0\.\d+ CPU seconds per row/,
  );
  expect(stderr).toContain('`weft serve weft-results` shows the run again');
});

test('the page’s process is of the lowest priority, and does not outlive the command', async () => {
  using desk = new Desk();
  const child = desk.start(`${line} --live --budget-ms 3000`);
  await addressOf(child);
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
  const address = await addressOf(child);
  const headers = bearerOf(address);
  for (let i = 0; i < 10; i++) {
    const leave = new AbortController();
    await fetch(`${address.origin}/api/runs/events`, { headers, signal: leave.signal });
    leave.abort();
  }
  expect((await child).exitCode).toBe(0);
  expect(desk.runs()[0]!.run.outcome).toBe('passed');
});

test('bad usage starts no page', async () => {
  using desk = new Desk();
  const { exitCode, stderr } = await desk.weft('write --live --columns Nonsense');
  expect(exitCode).toBe(2);
  expect(stderr).not.toContain('live at');
});
