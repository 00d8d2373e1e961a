import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { execa } from 'execa';
import { afterEach, describe, expect, test } from 'vitest';
import { hostSpace, switchSpace } from '../../src/lab/names.js';
import { defaultSpec } from '../../src/lab/spec.js';
import { Desk } from '../benchmarks/weft.js';
import { inSpace, labName, leftOf, spacesOf, stateFile, whyNoLab } from './laboratory.js';

const reason = whyNoLab();
const desk = new Desk();
const names = ['a', 'b', 'stale'].map(labName);
const [a = '', b = '', stale = ''] = names;

/** Asked of the kernel itself, so that a lab that sets delays up wrongly is not taken for a kernel without them. */
function kernelHasNetem(): boolean {
  const space = `weft-netem-${process.pid}`;
  execFileSync('ip', ['netns', 'add', space]);
  try {
    inSpace('tc', space, ...'qdisc add dev lo root netem delay 1ms'.split(' '));
    return true;
  } catch {
    return false;
  } finally {
    execFileSync('ip', ['netns', 'delete', space]);
  }
}

describe.runIf(reason === undefined)('a lab', () => {
  afterEach(async () => {
    for (const name of names) await desk.weft(`lab down --force --name ${name}`);
  });

  test('is built with shaped NICs and ports, told by status, and removed', async () => {
    const up = await desk.weft(`lab up --name ${a} --hosts 2 --nics 2 --rate 100mbit --mtu 4000`);
    expect(up).toMatchObject({ exitCode: 0, stderr: '' });
    expect(spacesOf(a)).toHaveLength(3);
    const shaped = /tbf .* root .*rate 100Mbit burst 100\d\db lat 500ms/;
    expect(inSpace('tc', hostSpace(a, 1), 'qdisc', 'show', 'dev', 'nic1')).toMatch(shaped);
    expect(inSpace('tc', switchSpace(a), 'qdisc', 'show', 'dev', 'h1r1')).toMatch(shaped);
    expect(inSpace('ip', hostSpace(a, 0), 'route')).toMatch(/10\.77\.1\.0\/24 .*congctl cubic/);
    const status = await desk.weft('lab status --format json');
    expect(JSON.parse(status.stdout)).toContainEqual(
      expect.objectContaining({
        name: a,
        spec: expect.objectContaining({ hosts: 2, bitsPerSecond: 100e6, mtu: 4000 }),
      }),
    );
    expect((await desk.weft(`lab down --name ${a}`)).stdout).toMatch(/Removed lab/);
    expect(leftOf(a)).toEqual([]);
    expect(await desk.weft(`lab down --name ${a}`)).toMatchObject({ exitCode: 0, stderr: '' });
  });

  test('has a name: two live side by side, and a name is used once', async () => {
    for (const name of [a, b]) await desk.weft(`lab up --name ${name} --hosts 1 --nics 1`);
    const again = await desk.weft(`lab up --name ${a} --hosts 1 --nics 1`);
    expect(again).toMatchObject({ exitCode: 2 });
    expect(again.stderr).toMatch(/lab .* already exists/);
    expect((await desk.weft('lab heal')).stderr).toMatch(/\d+ labs are up/);
    await desk.weft(`lab down --name ${a}`);
    expect(spacesOf(b)).toHaveLength(2);
  });

  test('what a crashed command left is removed by the next one', async () => {
    const dead = { pid: 2 ** 22 + 1, started: '1' };
    const state = { schema: 'weft.lab/1', name: stale, spec: defaultSpec, owner: dead, faults: [] };
    mkdirSync('/run/weft-lab', { recursive: true });
    writeFileSync(stateFile(stale), JSON.stringify(state));
    const foreign = `weft-foreign-${process.pid}`;
    for (const space of [hostSpace(stale, 0), hostSpace(b, 3), foreign]) {
      execFileSync('ip', ['netns', 'add', space]);
    }
    try {
      await desk.weft('lab status');
      expect([...leftOf(stale), ...leftOf(b)]).toEqual([]);
    } finally {
      execFileSync('ip', ['netns', 'delete', foreign]); // fails if it was taken for ours
    }
  });

  test('a delay is there, or a kernel without netem is named; nothing is left', async () => {
    const made = await desk.weft(`lab up --name ${a} --hosts 1 --nics 1 --delay 1ms`);
    if (kernelHasNetem()) {
      expect(made).toMatchObject({ exitCode: 0, stderr: '' });
      const shaper = inSpace('tc', hostSpace(a, 0), 'qdisc', 'show', 'dev', 'nic0');
      expect(shaper).toMatch(/netem .*delay 1ms.*tbf /s);
      await desk.weft(`lab down --name ${a}`);
    } else {
      expect(made.exitCode).toBe(1);
      expect(made.stderr).toMatch(/--delay needs netem, which this kernel lacks/);
    }
    expect(leftOf(a)).toEqual([]);
  });

  test('a half-built lab is taken down again', async () => {
    const made = await desk.weft(`lab up --name ${a} --hosts 2 --nics 1 --congestion nonsense`);
    expect(made.stderr).toMatch(/does not offer congestion control "nonsense"/);
    expect(leftOf(a)).toEqual([]);
  });

  test('what makes no sense is refused, once', async () => {
    await desk.weft(`lab up --name ${a} --hosts 2 --nics 1`);
    for (const [line, message] of [
      ['fault --host 0 --nic 9 --down', /has no NIC 9 on host 0/g],
      ['fault --host 0 --nic 0', /no fault given/g],
      ['run -- lab status', /a lab cannot run inside a lab/g],
      ['run -- write --nonsense', /unknown option '--nonsense'/g],
    ] as const) {
      const refused = await desk.weft(`lab ${line.replace(' ', ` --name ${a} `)}`);
      expect(refused, line).toMatchObject({ exitCode: 2 });
      expect(refused.stderr.match(message), line).toHaveLength(1);
    }
  });
});

test('a lab needs root, and says so', async ({ skip }) => {
  skip(process.getuid?.() !== 0, 'only root can become somebody else');
  const bin = resolve(import.meta.dirname, '../../bin/weft');
  const nobody = { uid: 65_534, gid: 65_534, reject: false, cwd: '/' } as const;
  const readable = await execa(process.execPath, [bin, '--version'], nobody);
  skip(readable.exitCode !== 0, 'nobody cannot read this checkout');
  const { exitCode, stderr } = await execa(process.execPath, [bin, 'lab', 'up'], nobody);
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/the lab needs root/);
});

test('labs can be built here', ({ skip }) => skip(reason !== undefined, reason));
