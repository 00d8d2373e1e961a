import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { childrenOf, Desk, isAlive, withFault } from './weft.js';

const one = '-b 64K -e 64K --columns SinglePin --budget-ms 20';

describe('data that is wrong', () => {
  test.each(['sendrecv', 'write', 'all2all'])('%s finds and names a flipped byte', async (id) => {
    using desk = new Desk();
    const { exitCode, stdout } = await desk.weft(`${id} ${one}`, withFault('flip:1:777'));
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/on rank 1, byte 777 from rank 0 is 0x\w\w instead of 0x\w\w/);
  });

  test('a message that comes short ends the run', async () => {
    using desk = new Desk();
    const { exitCode, stderr } = await desk.weft(`sendrecv ${one}`, withFault('drop:0'));
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/0 bytes arrived instead of 65536/);
  });

  test.each(['write', 'all2all'])('%s finds a buffer that was never written', async (id) => {
    using desk = new Desk();
    const { exitCode, stdout } = await desk.weft(`${id} ${one} --format json`, withFault('drop:0'));
    expect(exitCode).toBe(1);
    const [row] = JSON.parse(stdout).rows;
    expect(row.outcome).toBe('failed');
    expect(row.checked.wrong).toBeGreaterThan(60_000);
  });
});

describe('ranks that die', () => {
  test('whichever rank is killed at whatever moment, all end and none stays', async () => {
    for (let round = 0; round < 8; round++) {
      using desk = new Desk();
      const job = desk.start('sendrecv -b 64 -e 64 --ranks 3 -n 100000000 --timeout 20');
      await sleep(100 + ((round * 379) % 1500));
      const pids = childrenOf(job.pid!);
      const victim = pids[round % Math.max(1, pids.length)];
      if (victim) process.kill(victim, 'SIGKILL');
      else job.kill('SIGKILL');
      expect((await job).exitCode).not.toBe(0);
      for (const pid of pids) expect(isAlive(pid), `rank of round ${round}`).toBe(false);
    }
  });

  test('SIGTERM in a Slurm job marks the run as aborted, however slow Slurm answers', async () => {
    using desk = new Desk();
    writeFileSync(join(desk.folder, 'scontrol'), '#!/bin/sh\nexec sleep 10\n', { mode: 0o755 });
    const env = { SLURM_JOB_ID: '7', PATH: `${desk.folder}:${process.env.PATH}` };
    const job = desk.start('write -b 4K -e 64M --ranks 2 --budget-ms 3000', env);
    await desk.rowsIn(1);
    job.kill('SIGTERM');
    expect((await job).exitCode).toBe(1);
    expect(desk.runs()[0]!.run).toMatchObject({
      outcome: 'aborted',
      errors: [{ message: expect.stringMatching(/was stopped by SIGTERM/) }],
    });
  });
});

describe('bad input', () => {
  test.each([
    ['write -b 1X', /not a size/],
    ['write -b 2M -e 1M', /--min-bytes 2M is larger than --max-bytes 1M/],
    ['write --ranks 1', /at least 2 ranks/],
    ['write --ranks two', /whole number/],
    ['write --columns Nope', /Its columns are SinglePin/],
    ['all2all --buffers 3', /no effect on all2all; only write supports it/],
    ['write --format xml', /It must be table/],
    ['write --nics nope0 --provider tcp', /no network interface nope0/],
    ['write --provider nope', /no usable provider nope/],
    ['suite missing.yaml', /not a suite/],
    ['frobnicate', /unknown command/],
  ])('%s', async (line, message) => {
    using desk = new Desk();
    const { exitCode, stderr } = await desk.weft(line);
    expect(stderr).toMatch(message);
    expect([2, 3]).toContain(exitCode);
  });

  test('a results folder that cannot be written is a clear error', async () => {
    using desk = new Desk();
    writeFileSync(`${desk.folder}/weft-results`, 'a file where the folder should be');
    chmodSync(`${desk.folder}/weft-results`, 0o400);
    const { exitCode, stderr } = await desk.weft(`write ${one}`);
    expect(exitCode).not.toBe(0);
    expect(stderr).toMatch(/weft-results/);
  });
});
