import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { Desk } from '../benchmarks/weft.js';

const bin = resolve(import.meta.dirname, '../../bin/weft');
const libraries = resolve(import.meta.dirname, '../../build/efa/libibverbs.so.1');
const reason = existsSync(libraries) ? undefined : 'the emulated EFA device is not built';

const emulate = (options: readonly string[], command: readonly string[]) =>
  execa(process.execPath, [bin, 'emulate', 'efa', ...options, '--', ...command], { reject: false });

describe.skipIf(reason)(`weft emulate efa${reason ? ` (${reason})` : ''}`, () => {
  test('gives the command a tree and the libraries, and removes the tree', async () => {
    const show = 'echo "$SYSFS_PATH"; ls "$SYSFS_PATH/class/infiniband"; echo "$LD_LIBRARY_PATH"';
    const { exitCode, stdout } = await emulate([], ['sh', '-c', show]);
    expect(exitCode).toBe(0);
    const [tree = '', ...rest] = stdout.split('\n');
    expect(rest.slice(0, 4)).toEqual(['rdmap79s0', 'rdmap80s0', 'rdmap81s0', 'rdmap82s0']);
    expect(rest[4]).toMatch(/build\/efa(:|$)/);
    expect(existsSync(tree)).toBe(false);
  });

  test('`weft` is this weft, and sees the devices where it sees those of hardware', async () => {
    const told = await emulate(
      ['--machine', 'p4d', '--nics', '2'],
      ['weft', 'info', '--format', 'json'],
    );
    const rdma = JSON.parse(told.stdout).nics.filter(
      (nic: { kind: string }) => nic.kind === 'rdma',
    );
    expect(rdma).toMatchObject([
      { name: 'rdmap16s27', pci: '0000:10:1b.0', numaNode: 0, rateGbps: 100, up: true },
      { name: 'rdmap32s27', pci: '0000:20:1b.0', numaNode: 0, rateGbps: 100, up: true },
    ]);
  });

  test('ends as the command ends: exit code or signal', async () => {
    expect(await emulate([], ['sh', '-c', 'exit 7'])).toMatchObject({ exitCode: 7 });
    expect(await emulate([], ['sh', '-c', 'kill -KILL $$'])).toMatchObject({ signal: 'SIGKILL' });
  });

  test.each(['SIGINT', 'SIGTERM'] as const)(
    'passes %s on, and the tree is gone',
    async (signal) => {
      // Not a shell that goes on as another program: it would swallow a SIGINT on the way.
      const program = 'console.log(process.env.SYSFS_PATH); setInterval(() => {}, 1000);';
      const child = emulate([], [process.execPath, '-e', program]);
      const [tree] = await new Promise<string[]>((done) => {
        child.stdout.once('data', (data: Buffer) => done(data.toString().split('\n')));
      });
      expect(existsSync(tree!)).toBe(true);
      child.kill(signal);
      expect(await child).toMatchObject({ signal });
      expect(existsSync(tree!)).toBe(false);
    },
  );

  test('--keep leaves the tree, and refuses a folder with something in it', async () => {
    using desk = new Desk();
    const keep = join(desk.folder, 'sys');
    const options = ['--keep', keep, '--nics', '1', '--fault', '0:silent=1'];
    expect(await emulate(options, ['true'])).toMatchObject({ exitCode: 0 });
    expect(existsSync(join(keep, 'class/infiniband/rdmap79s0/device/emulation/faults'))).toBe(true);
    const again = await emulate(options, ['true']);
    expect(again).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('is not empty') });
  });

  test.each([
    [[], ['no-such-command'], 'no-such-command: no such command'],
    [['--machine', 'p7'], ['true'], '"p7" is not a known machine'],
    [['--nics', '33'], ['true'], 'a p5.48xlarge cannot have 33 EFA devices'],
    [['--fault', 'opened=1'], ['true'], '"opened" is not a fault'],
    [['--fault', '4:open=1'], ['true'], 'there is no device 4'],
  ])('%j %j is bad usage', async (options, command, message) => {
    const { exitCode, stderr } = await emulate(options, command);
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining(message) });
  });
});
