import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { SoakVerdict } from '../../src/analysis/soak/verdict.js';
import { isSoakRow } from '../../src/analysis/soak/verdict.js';
import { childrenOf, Desk, readProc, withFault } from './weft.js';

/** Nothing on a busy machine takes five seconds: what is not meant to stall does not. */
const patient = '--stall 5s';
const write = 'write -b 64K --provider shm --ranks 2';

const verdictOf = (stdout: string): SoakVerdict & { file: string } => JSON.parse(stdout);

test('a row per interval, each verified, and a verdict', async () => {
  using desk = new Desk();
  const line = `soak --for 2s --every 500ms ${patient} --format json -- ${write}`;
  const { exitCode, stdout, stderr } = await desk.weft(line);
  expect(exitCode, stderr).toBe(0);
  const verdict = verdictOf(stdout);
  expect(verdict).toMatchObject({ verdict: 'steady', benchmark: 'write', stalls: { count: 0 } });
  const [{ run }] = desk.runs() as [ReturnType<Desk['runs']>[0]];
  const rows = run.rows.filter(isSoakRow);
  expect(rows.length).toBeGreaterThanOrEqual(2);
  expect(rows.length).toBeLessThanOrEqual(4);
  expect(rows.map(({ repeat }) => repeat)).toEqual([...rows.keys()]);
  for (const { column, bytes, checked, nanoseconds, soak, iterations } of rows) {
    expect({ column, bytes }).toEqual({ column: 'MultiPin', bytes: 65_536 });
    expect(checked).toMatchObject({ wrong: 0 });
    expect(checked.bytes).toBeGreaterThan(0);
    expect(iterations).toBeGreaterThan(10);
    const { min, p50, p99, max } = nanoseconds!;
    expect([min, p50, p99, soak.p999, max]).toEqual(
      [min, p50, p99, soak.p999, max].sort((a, b) => a - b),
    );
  }
  expect(run).toMatchObject({ outcome: 'passed', settings: { soak: { everyMs: 500 } } });
});

test('a benchmark with a procedure of its own is run again and again', async () => {
  using desk = new Desk();
  const pairs = 'pairs --ranks 2 --provider shm -b 64K -e 64K --budget-ms 10';
  const { exitCode, stdout, stderr } = await desk.weft(
    `soak --for 1s --every 500ms ${patient} --format json -- ${pairs}`,
  );
  expect(exitCode, stderr).toBe(0);
  const { verdict, rows } = verdictOf(stdout);
  expect(verdict).toBe('steady');
  expect(rows.map(({ column }) => column)).toEqual(['Bandwidth', 'Latency']);
});

/** Of the ranks of a command: memory in MiB and open files. */
const costOf = (pid: number) =>
  childrenOf(pid).map((child) => ({
    rssMiB: Number(/VmRSS:\s+(\d+)/.exec(readProc(`${child}/status`))?.[1]) / 1024,
    files: readdirSync(`/proc/${child}/fd`).length,
  }));

test.for([
  ['kept connections', '', 50, 200],
  ['new connections', '--reopen', 10, 40],
] as const)(
  'memory, files and disk stay flat over many intervals: %s',
  async ([, option, early, late]) => {
    using desk = new Desk();
    const child = desk.start(`soak --every 10ms ${option} ${patient} -- ${write} --budget-ms 5`);
    await desk.rowsIn(early);
    const before = costOf(child.pid!);
    await desk.rowsIn(late);
    const after = costOf(child.pid!);
    child.kill('SIGINT');
    expect((await child).exitCode).toBe(0);
    for (const [rank, { rssMiB, files }] of after.entries()) {
      expect(rssMiB - before[rank]!.rssMiB).toBeLessThan(30);
      expect(files).toBeLessThanOrEqual(before[rank]!.files + 2);
    }
    const folder = join(desk.folder, 'weft-results');
    const name = readdirSync(folder).find((one) => one.endsWith('.jsonl'))!;
    const rows = desk.runs()[0]!.run.rows.length;
    expect(statSync(join(folder, name)).size / rows).toBeLessThan(3000);
  },
);

describe('ending', () => {
  test('Ctrl-C ends it with a verdict', async () => {
    using desk = new Desk();
    const child = desk.start(`soak --every 200ms ${patient} -- ${write}`);
    await desk.rowsIn(2);
    child.kill('SIGINT');
    const { exitCode, stdout, stderr } = await child;
    expect(exitCode, String(stderr)).toBe(0);
    expect(stdout).toMatch(/write was steady over \d+ intervals/);
    expect(desk.runs()[0]!.run).toMatchObject({ outcome: 'passed', errors: [] });
  });

  test('a second Ctrl-C ends it at once; rows stay', async () => {
    using desk = new Desk();
    const child = desk.start(`soak --every 200ms ${patient} -- ${write}`);
    await desk.rowsIn(2);
    // Two different signals: the kernel makes one of two that are the same and come at once.
    child.kill('SIGINT');
    child.kill('SIGTERM');
    expect((await child).exitCode).toBe(1);
    expect(desk.runs()[0]!.run.rows.length).toBeGreaterThanOrEqual(2);
  });

  test('one interval where the interval is longer than the soak', async () => {
    using desk = new Desk();
    const { stdout } = await desk.weft(
      `soak --for 300ms --every 1h ${patient} --format json -- ${write}`,
    );
    expect(verdictOf(stdout).intervals).toBe(1);
  });
});

test('a rank that stands still is found, timed and named', async () => {
  using desk = new Desk();
  const child = desk.start(
    `soak --every 500ms --stall 700ms --format json -- all2all -b 64K -e 64K --provider shm --ranks 3`,
  );
  await desk.rowsIn(1);
  const rank1 = childrenOf(child.pid!)[1]!;
  const stoppedAt = Date.now();
  process.kill(rank1, 'SIGSTOP');
  await sleep(1500);
  process.kill(rank1, 'SIGCONT');
  const continuedAt = Date.now();
  await desk.rowsIn(3);
  child.kill('SIGINT');
  const { exitCode, stdout } = await child;
  const verdict = verdictOf(String(stdout));
  expect(exitCode, String(stdout)).toBe(4);
  const [cause] = verdict.causes;
  expect(cause).toMatchObject({ proven: true, suspects: [{ ranks: [1], why: 'not-running' }] });
  expect(cause!.longestMs).toBeGreaterThan(1000);
  expect(cause!.longestMs).toBeLessThan(continuedAt - stoppedAt + 3000);
  const longest = verdict.stalls.longest.find(
    ({ milliseconds }) => milliseconds === cause!.longestMs,
  );
  expect(Date.parse(longest!.at)).toBeGreaterThan(stoppedAt - 1000);
  expect(Date.parse(longest!.at)).toBeLessThan(continuedAt);
});

describe('trouble', () => {
  test('a rank that dies ends the soak; its intervals are kept and the verdict says so', async () => {
    using desk = new Desk();
    const child = desk.start(`soak --every 200ms ${patient} -- ${write}`);
    await desk.rowsIn(2);
    process.kill(childrenOf(child.pid!)[1]!, 'SIGKILL');
    const { exitCode, stderr, stdout } = await child;
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/rank 1 was killed by SIGKILL/);
    expect(stdout).toMatch(/write did not pass/);
    const { run } = desk.runs()[0]!;
    expect(run.outcome).toBe('aborted');
    expect(run.rows.filter(isSoakRow).length).toBeGreaterThanOrEqual(2);
  });

  test('wrong bytes end it at once', async () => {
    using desk = new Desk();
    const line = `soak --for 1h --every 30m ${patient} --format json -- ${write}`;
    const { exitCode, stdout } = await desk.weft(line, withFault('flip:1'));
    expect(exitCode).toBe(1);
    const verdict = verdictOf(stdout);
    expect(verdict).toMatchObject({
      ...{ verdict: 'failed', intervals: 1 },
      errors: [{ code: 'DATA_WRONG' }],
    });
  });

  test.for([
    ['--for 0s -- write', /--for .*more than 0/],
    ['-- wrote', /unknown benchmark wrote/],
    ['', /missing required argument/],
    ['-- write --repeats 3', /--repeats has no effect on soak/],
    ['-- write --format csv', /soak cannot print csv/],
    ['-- write --ranks 1', /at least 2 ranks/],
  ] as const)('bad usage: %s', async ([options, message]) => {
    using desk = new Desk();
    const { exitCode, stderr } = await desk.weft(`soak ${options}`);
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(message),
    });
  });
});
