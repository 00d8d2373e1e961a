import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { freePort } from '../world/ranks-in-process.js';
import {
  exchanged,
  expectedExchange,
  marked,
  missing,
  newMark,
  program,
  run,
  torchrunAlone,
  torchrunArgs,
  torchrunTimeoutMs,
} from './processes.js';

const exchange = [process.execPath, program('exchange')];
const openmpiArgs = ['--allow-run-as-root', '--oversubscribe'];

async function expectExchange(launcher: string, size: number, command: string, args: string[]) {
  const { stdout, stderr } = await run(command, args, { timeoutMs: torchrunTimeoutMs });
  const ranks = exchanged(stdout);
  expect(ranks, stderr).toMatchObject(expectedExchange(size));
  expect(ranks[0]).toMatchObject({ launcher, localSize: size, authenticated: false });
}

describe('Open MPI', () => {
  const reason = missing({ 'mpirun.openmpi': 'openmpi-bin' });

  test('its ranks find each other', async ({ skip }) => {
    skip(reason !== undefined, reason);
    await expectExchange('openmpi', 3, 'mpirun.openmpi', [...openmpiArgs, '-n', '3', ...exchange]);
  });

  test('two jobs at once do not meet', async ({ skip }) => {
    skip(reason !== undefined, reason);
    const args = [...openmpiArgs, '-n', '2', ...exchange];
    // Open MPI itself fails now and then where two of its jobs create the session folder they share at once.
    const folders = [1, 2].map(() => mkdtempSync(join(tmpdir(), 'weft-openmpi-')));
    const jobs = await Promise.all(
      folders.map((folder) =>
        run('mpirun.openmpi', args, { env: { OMPI_MCA_orte_tmpdir_base: folder } }),
      ),
    );
    for (const folder of folders) rmSync(folder, { recursive: true });
    for (const { stdout, stderr } of jobs) {
      expect(exchanged(stdout), stderr).toMatchObject(expectedExchange(2));
    }
  });

  test('a rank that dies ends the job', async ({ skip }) => {
    skip(reason !== undefined, reason);
    const mark = newMark();
    const args = [...openmpiArgs, '-n', '3', process.execPath, program('steady')];
    const { code, stderr } = await run('mpirun.openmpi', args, {
      env: { ...mark, TEST_EXIT: '1' },
    });
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/rank 1|\[\[\d+,1\],1\]/);
    expect(marked(mark)).toEqual([]);
  });
});

describe('MPICH', () => {
  const reason = missing({ 'mpiexec.hydra': 'mpich' });

  test('its ranks find each other', async ({ skip }) => {
    skip(reason !== undefined, reason);
    await expectExchange('mpich', 3, 'mpiexec.hydra', ['-n', '3', ...exchange]);
  });

  test('also behind a shell, and beside another job', async ({ skip }) => {
    skip(reason !== undefined, reason);
    const args = ['-n', '2', 'sh', '-c', `${exchange.join(' ')}; true`];
    const jobs = await Promise.all([1, 2].map(() => run('mpiexec.hydra', args)));
    for (const { stdout } of jobs) expect(exchanged(stdout)).toMatchObject(expectedExchange(2));
  });
});

describe('torchrun', () => {
  const reason = missing({ torchrun: 'python3-torch' });

  test(
    'standalone: MASTER_PORT is free',
    async ({ skip }) => {
      skip(reason !== undefined, reason);
      const args = [
        ...torchrunAlone,
        '--nproc_per_node=2',
        ...torchrunArgs,
        '--no_python',
        ...exchange,
      ];
      await expectExchange('torchrun', 2, 'torchrun', args);
    },
    torchrunTimeoutMs,
  );

  test(
    'with a static rendezvous: its agent holds MASTER_PORT',
    async ({ skip }) => {
      skip(reason !== undefined, reason);
      const master = ['--master_addr=127.0.0.1', `--master_port=${await freePort()}`];
      const args = [...master, '--nproc_per_node=2', ...torchrunArgs, ...exchange];
      await expectExchange('torchrun', 2, 'torchrun', args);
    },
    torchrunTimeoutMs,
  );
});
