import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { LabState } from '../../src/lab/index.js';
import { hostSpace, switchSpace } from '../../src/lab/names.js';
import { defaultSpec } from '../../src/lab/spec.js';
import { changeState, createState, removeState, thisProcess } from '../../src/lab/state.js';
import { Desk } from '../benchmarks/weft.js';
import { inSpace, labName, stateFile, until, whyNoLab } from './laboratory.js';

const lab = labName('fault');

describe.runIf(whyNoLab() === undefined)('faults on purpose', () => {
  const desk = new Desk();
  const named = (line: string) => line.replace(/^lab \w+/, (words) => `${words} --name ${lab}`);
  const weft = (line: string) => desk.weft(named(line));
  const start = (line: string) => desk.start(named(line));
  const write = (bytes: string, rest = '') =>
    `lab run -- write -b ${bytes} -e ${bytes} --columns MultiPin -c 1 --timeout 30 ${rest}`;

  beforeAll(async () => {
    const built = await weft('lab up --hosts 3 --nics 2 --rate 200mbit');
    expect(built).toMatchObject({ exitCode: 0 });
  });
  afterEach(() => weft('lab heal'));
  afterAll(async () => {
    await weft('lab down --force');
    desk[Symbol.dispose]();
  });

  test('a rail that swallows everything is told, with rail and hosts', async () => {
    await weft('lab fault --host 2 --nic 0 --loss 100%');
    const refused = await weft(write('256K', '--timeout 4'));
    expect(refused).toMatchObject({ exitCode: 1, stdout: '' });
    expect(refused.stderr).toMatch(/rail 0 \(nic0\): h2 and h0, h1 do not reach each other/);
  });

  test('rate, loss and heal take effect, and status tells', async () => {
    const shaper = () => inSpace('tc', hostSpace(lab, 2), 'qdisc', 'show', 'dev', 'nic1');
    const rules = () =>
      execFileSync('ip', ['netns', 'exec', switchSpace(lab), 'nft', 'list', 'ruleset'], {
        encoding: 'utf8',
      });
    await weft('lab fault --host 2 --nic 1 --rate 25mbit');
    const told = await weft('lab fault --host 2 --nic 1 --loss 1%');
    expect(told.stdout).toMatch(/h2 nic1: 25mbit, loss 1 %/);
    expect(shaper()).toMatch(/rate 25Mbit/);
    expect(rules()).toMatch(/iifname "h2r1" numgen random mod 1000000 < 10000 drop/);
    await weft('lab heal --host 2 --nic 1');
    expect(shaper()).toMatch(/rate 200Mbit/);
    expect(rules()).not.toMatch(/drop/);
  });

  test('faults given at the same moment are all kept, also where a process died with the lock', async () => {
    const dead = JSON.stringify({ pid: process.pid, started: 'before' });
    for (const end of ['lock', 'lock.left']) writeFileSync(`${stateFile(lab)}.${end}`, dead);
    const places = [0, 1, 2].flatMap((host) => [0, 1].map((nic) => ({ host, nic })));
    await Promise.all(
      places.map(({ host, nic }) => weft(`lab fault --host ${host} --nic ${nic} --rate 25mbit`)),
    );
    const { stdout } = await desk.weft('lab status --format json');
    const labs: LabState[] = JSON.parse(stdout);
    expect(labs.find(({ name }) => name === lab)?.faults).toHaveLength(places.length);
  });

  test('a lab is not removed under the hands of who is changing it, and stays removed', async () => {
    const name = labName('gone');
    createState({
      schema: 'weft.lab/1',
      name,
      spec: defaultSpec,
      owner: thisProcess(),
      faults: [],
    });
    const lock = `${stateFile(name)}.lock`;
    const folder = mkdtempSync(join(tmpdir(), 'weft-lab-'));
    const changing = join(folder, 'changing');
    const program = `
      const { changeState } = await import(${JSON.stringify(new URL('../../dist/lab/state.js', import.meta.url).href)});
      changeState(${JSON.stringify(name)}, (state) => {
        fs.writeFileSync(${JSON.stringify(changing)}, '');
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
        return state;
      });`;
    const args = ['--input-type=module', '-e', `import fs from 'node:fs';${program}`];
    const changer = spawn(process.execPath, args, { stdio: 'inherit' });
    const ended = once(changer, 'exit');
    await until('the other process to hold the lock', () => existsSync(changing), 20_000);
    removeState(name);
    expect(await ended).toEqual([0, null]);
    expect([stateFile(name), lock].filter((path) => existsSync(path))).toEqual([]);
    expect(() => changeState(name, (state) => state)).toThrow(`lab ${name} is not up`);
    rmSync(folder, { recursive: true });
  });

  test('with loss data still arrives whole', async () => {
    await weft('lab fault --host 1 --nic 0 --loss 1%');
    expect(await weft(write('256K', '-n 3'))).toMatchObject({ exitCode: 0 });
  });

  /** Bytes that rank 0's host has put on a rail. */
  function sent(nic: string): number {
    const stats = inSpace('ip', hostSpace(lab, 0), '-s', '-j', 'link', 'show', nic);
    return JSON.parse(stats)[0].stats64.tx.bytes;
  }
  /** The run is well into its timed part. */
  const traffic = async () => {
    const before = sent('nic0');
    await until('traffic', () => sent('nic0') > before + 12e6, 20_000);
  };
  const sentIn = async (nic: string, ms: number) => {
    const before = sent(nic);
    await sleep(ms);
    return sent(nic) - before;
  };

  test('a slower rail is felt by the run that is on, and healing too', async () => {
    const running = start(write('512K', '-n 5000 --quiet'));
    await traffic();
    await weft('lab fault --host 0 --nic 1 --rate 10mbit');
    const slow = await sentIn('nic1', 600);
    await weft('lab heal');
    await sleep(300);
    const healed = await sentIn('nic1', 600);
    expect(healed / slow).toBeGreaterThan(3);
    running.kill('SIGINT');
    await running;
  });
});
