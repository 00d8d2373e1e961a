import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { allowedCores } from '../../src/native/process.js';
import { describeExit, type SpawnOptions, spawnRanks } from '../../src/world/index.js';
import {
  exchanged,
  expectedExchange,
  marked,
  newMark,
  pause,
  program,
  run,
  start,
} from './processes.js';

const node = process.execPath;

/** Runs ranks to their end and returns what they printed. */
async function runRanks(name: string, options: Partial<SpawnOptions> & { ranks: number }) {
  const mark = newMark();
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const job = await spawnRanks({
    command: node,
    args: [program(name)],
    stdout,
    stderr,
    ...options,
    env: { ...mark, ...options.env },
  });
  const printed = Promise.all([text(stdout), text(stderr)]);
  const outcome = await job.done;
  stdout.end();
  stderr.end();
  const [out, err] = await printed;
  return { outcome, out, err, left: marked(mark) };
}

describe('local ranks', () => {
  test('eight join, exchange and leave', async () => {
    const { outcome, out, err, left } = await runRanks('exchange', { ranks: 8, prefix: true });
    expect(outcome).toMatchObject({ ok: true, failure: undefined });
    expect(exchanged(out)).toMatchObject(expectedExchange(8).slice(0, 1)); // only rank 0 speaks
    const others = err.replaceAll(/^\[rank \d\] /gm, '');
    expect(exchanged(others)).toMatchObject(expectedExchange(8).slice(1));
    expect(exchanged(out)[0]).toMatchObject({ launcher: 'local', authenticated: true });
    expect(left).toEqual([]);
  });

  test.for(['auto', 'none'] as const)('pinned: %s', async (pin, { skip }) => {
    const cores = allowedCores();
    skip(cores.length < 2, 'two ranks need two cores to be pinned');
    const { out } = await runRanks('exchange', { ranks: 2, pin });
    expect(exchanged(out)[0]).toMatchObject({
      cores: pin === 'auto' ? cores.slice(0, Math.floor(cores.length / 2)) : cores,
    });
  });

  test('over IPv6', async () => {
    const { outcome, out } = await runRanks('exchange', { ranks: 2, host: '::1' });
    expect(outcome.ok).toBe(true);
    expect(exchanged(out)).toHaveLength(1);
  });

  test('rank 0 dying before it accepts does not hang the rest', async () => {
    const { outcome, left } = await runRanks('none-such', { ranks: 2 });
    expect(outcome.failure).toMatchObject({ exitCode: 1 });
    expect(outcome.failure?.lastWords).toMatch(/Cannot find module/);
    expect(left).toEqual([]);
  });

  test('more than the memory holds are refused before any is started', async () => {
    const started = spawnRanks({ ranks: 10_000_000, command: process.execPath });
    await expect(started).rejects.toMatchObject({
      code: 'BAD_USAGE',
      hint: expect.stringMatching(/at most \d+ here/),
    });
  });

  test('a command that is not there', async () => {
    const { outcome } = await runRanks('exchange', { ranks: 2, command: '/none/such' });
    expect(outcome.ok).toBe(false);
    expect(outcome.failure?.lastWords).toMatch(/ENOENT/);
  });

  test('the rank that failed by itself is blamed, though others may exit first', async () => {
    const { outcome, left } = await runRanks('steady', { ranks: 3, env: { TEST_FAIL: '2' } });
    expect(describeExit(outcome.failure!)).toMatch(/^rank 2 exited with code 1: told to fail/);
    expect(left).toEqual([]);
  });

  test('the rank that exited without a word is blamed', async () => {
    const { outcome, err } = await runRanks('steady', { ranks: 3, env: { TEST_EXIT: '1' } });
    expect(outcome.failure).toMatchObject({ rank: 1, exitCode: 42 });
    expect(err).toMatch(/PEER_LOST: rank 1 on host \S+ \(pid \d+\) was lost/);
  });

  test('ranks that ignore the signal are killed after the grace', async () => {
    const env = { TEST_EXIT: '1' };
    const { outcome, left } = await runRanks('stubborn', { ranks: 3, graceMs: 300, env });
    expect(outcome.failure).toMatchObject({ rank: 1, exitCode: 42 });
    expect(outcome.exits[0]).toMatchObject({ signal: 'SIGKILL', afterStop: true });
    expect(left).toEqual([]);
  });
});

describe('the parent', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)(
    '%s to its group ends the job in order',
    async (signal) => {
      const mark = newMark();
      const parent = start(node, [program('parent'), program('steady'), '3'], {
        env: mark,
        detached: true,
      });
      await parent.says(/joined 0/);
      expect(marked(mark)).toHaveLength(4);
      process.kill(-(parent.child.pid ?? 0), signal);
      const { stdout, code } = await parent.finished;
      expect(stdout).toMatch(`"interrupted":"${signal}"`);
      expect(code).toBe(1);
      expect(marked(mark)).toEqual([]);
    },
  );

  test('a second SIGINT does not wait for the grace', async () => {
    const mark = newMark();
    const args = [program('parent'), program('stubborn'), '2', '60000'];
    const parent = start(node, args, { env: mark, detached: true });
    await parent.says(/stubborn/);
    parent.child.kill('SIGINT');
    await pause(100);
    parent.child.kill('SIGINT');
    expect((await parent.finished).stdout).toMatch('"interrupted":"SIGINT"');
    expect(marked(mark)).toEqual([]);
  });

  test('SIGKILL at any moment leaves no rank behind', async () => {
    for (const name of ['steady', 'stubborn']) {
      for (const delayMs of [0, 60, 120, 200, 350]) {
        const mark = newMark();
        const parent = start(node, [program('parent'), program(name), '3'], { env: mark });
        await pause(delayMs + Math.random() * 60);
        parent.child.kill('SIGKILL');
        await expect.poll(() => marked(mark), { timeout: 5000 }).toEqual([]);
      }
    }
  });

  test('passes on exit and stdout of rank 0', async () => {
    const { code, stdout } = await run(node, [program('parent'), program('exchange'), '2']);
    expect(code).toBe(0);
    expect(exchanged(stdout)[0]).toMatchObject({ rank: 0, size: 2 });
  });
});
