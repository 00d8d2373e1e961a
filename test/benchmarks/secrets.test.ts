import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { childrenOf, Desk, liveAddress, readProc } from './weft.js';

const pageToken = 'a-page-token-only-for-tests';
/** What every user of the machine can read, unlike /proc/PID/environ. */
const processList = () =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => readProc(`${pid}/cmdline`))
    .join('\n');

test('tokens are neither in process lists nor in output, run files and reports', async () => {
  using desk = new Desk();
  const line = 'write --ranks 2 --provider shm -b 64K -e 1M --budget-ms 300 --live --verbose';
  const running = desk.start(line, { WEFT_PAGE_TOKEN: pageToken });
  await liveAddress(running);
  await expect.poll(() => jobToken(running.pid!), { timeout: 20_000 }).toMatch(/^[0-9a-f]{64}$/);
  const token = jobToken(running.pid!)!;
  const list = processList();
  expect(list).toContain('--follower');
  expect([list.includes(token), list.includes(pageToken)]).toEqual([false, false]);

  const { stdout, stderr, exitCode } = await running;
  expect(exitCode).toBe(0);
  expect((await desk.weft(`report ${runFile(desk)} -o report.html`)).exitCode).toBe(0);
  const kept = [runFile(desk), 'report.html'].map((path) =>
    readFileSync(join(desk.folder, path), 'utf8'),
  );
  const written = [String(stdout), ...kept];
  // Who starts a page is told its address, with the token, on stderr.
  expect(written.filter((text) => text.includes(pageToken))).toEqual([]);
  expect([...written, String(stderr)].filter((text) => text.includes(token))).toEqual([]);
});

/** Of the ranks: their own user may read it. */
const jobToken = (launcher: number): string | undefined =>
  childrenOf(launcher)
    .map((pid) => /(?:^|\0)WEFT_TOKEN=([^\0]*)/.exec(readProc(`${pid}/environ`))?.[1])
    .find((token) => token !== undefined);

const runFile = ({ folder }: Desk): string =>
  join(
    'weft-results',
    readdirSync(join(folder, 'weft-results')).find((n) => n.endsWith('.jsonl'))!,
  );
