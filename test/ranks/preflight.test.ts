import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { execa } from 'execa';
import { afterAll, describe, expect, test } from 'vitest';
import { Desk } from '../benchmarks/weft.js';
import { missing } from './processes.js';

const timeout = 60_000;
const bin = resolve(import.meta.dirname, '../../bin/weft');
const write = 'write -b 64K -e 64K -n 2 --columns SinglePin';
const noRoot = process.getuid?.() === 0 ? undefined : 'needs root';

describe('before a job on one host', () => {
  const desk = new Desk();
  afterAll(() => desk[Symbol.dispose]());

  /** As in a container with so large a /dev/shm. */
  const withSharedMemory = (megabytes: number) => [
    ...['unshare', '--mount', 'sh', '-c'],
    `mount -t tmpfs -o size=${megabytes}m tmpfs /dev/shm && exec "$@"`,
    'sh',
  ];
  /** Below it libfabric does not offer shm at all. */
  const leastMegabytes = 16 * availableParallelism();

  test('a /dev/shm that endpoints would fill ends it, not SIGBUS', { timeout }, async ({
    skip,
  }) => {
    skip(noRoot !== undefined, noRoot);
    const megabytes = leastMegabytes + 8;
    const channels = Math.ceil(megabytes / 8) + 1;
    const line = `${write} --ranks 2 --provider shm --channels ${channels}`;
    const { exitCode, stderr } = await desk.weftUnder(withSharedMemory(megabytes), line);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/\/dev\/shm has only .* free, but 2 ranks × \d+ channels over shm need/);
    expect(stderr).toContain('--shm-size');
  });

  test('a /dev/shm that is too small for shm at all is why tcp is used', { timeout }, async ({
    skip,
  }) => {
    skip(noRoot !== undefined, noRoot);
    const { exitCode, stderr } = await desk.weftUnder(withSharedMemory(4), `${write} --ranks 2`);
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(
      /warning: .*only 4M free, so libfabric does not offer shm and the ranks use tcp/,
    );
  });

  test('locked memory that is too small for RDMA ends it', { timeout }, async ({ skip }) => {
    skip(noRoot !== undefined, noRoot);
    const under = ['setpriv', '--bounding-set=-ipc_lock', 'prlimit', '--memlock=8388608:8388608'];
    const devices = [process.execPath, bin, 'emulate', 'efa', '--nics', '1', '--', ...under];
    const { exitCode, stderr } = await desk.weftUnder(devices, `${write} --ranks 2`);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/only 8M of memory can be locked, and efa locks all buffers/);
    expect(stderr).toContain('ulimit -l unlimited');
  });

  test.each([
    ['mpirun', 'mpirun.openmpi', ['--allow-run-as-root', '--oversubscribe']],
    ['hydra_pmi_proxy', 'mpiexec.hydra', []],
  ])(
    'ranks that lost the variables of %s are not N jobs',
    { timeout },
    async (name, program, options) => {
      const lack = missing({ [program]: 'openmpi-bin, mpich' });
      expect(lack).toBeUndefined();
      const bare = ['env', '-i', process.execPath, bin, ...write.split(' ')];
      const env = { OMPI_ALLOW_RUN_AS_ROOT: '1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1' };
      const { stderr } = await execa(program, [...options, '-n', '2', ...bare], {
        ...{ cwd: desk.folder, env, reject: false, timeout },
      });
      const text = new RegExp(
        `${name}\\S* \\(pid \\d+\\) started this process, but its rank variables`,
      );
      expect(stderr).toMatch(text);
      expect(stderr).toContain('WORLD_SIZE');
    },
  );

  test('processes that start together with the same command line are told', {
    timeout,
  }, async () => {
    const line = `"$0" "$1" ${write} --provider none`;
    const { stderr } = await execa(
      'sh',
      ['-c', `${line} & ${line} & wait`, process.execPath, bin],
      {
        ...{ cwd: desk.folder, reject: false, timeout },
      },
    );
    expect(stderr).toMatch(/warning: Another process with this command line started together/);
  });
});
