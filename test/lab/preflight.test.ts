import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hostSpace, management, switchSpace } from '../../src/lab/names.js';
import { enter } from '../../src/lab/run.js';
import { Desk } from '../benchmarks/weft.js';
import { missing } from '../ranks/processes.js';
import { freePort } from '../world/ranks-in-process.js';
import { inSpace, labName, whyNoLab } from './laboratory.js';

const lab = labName('preflight');
const reason = whyNoLab() ?? missing({ faketime: 'faketime', prlimit: 'util-linux' });
const timeout = 60_000;
const root = resolve(import.meta.dirname, '../..');
const bin = join(root, 'bin/weft');
const write = 'write -b 64K -e 64K -n 2 --columns MultiPin --timeout 20'.split(' ');

describe('before a job on two hosts', () => {
  const desk = new Desk();
  const weft = (line: string) =>
    desk.weft(line.replace(/^lab \w+/, (word) => `${word} --name ${lab}`));

  /** One rank on each host; `before` are the words before Node on the second one. */
  async function bothRanks(before: readonly string[], args = write, program = bin) {
    const port = await freePort();
    const ranks = [0, 1].map((rank) => {
      const env = {
        RANK: rank,
        WORLD_SIZE: 2,
        LOCAL_RANK: 0,
        LOCAL_WORLD_SIZE: 1,
        GROUP_RANK: rank,
      };
      const where = { ...env, MASTER_ADDR: management.address(0), MASTER_PORT: port };
      const variables = Object.entries(where).map(([name, value]) => `${name}=${value}`);
      const other = rank === 1;
      const [ip = '', ...words] = enter({ name: lab }, rank);
      const node = [process.execPath, other ? program : bin, ...args];
      const command = [...words, 'env', ...variables, ...(other ? before : []), ...node];
      const env0 = { WEFT_TOKEN: 'before a job' };
      return execa(ip, command, { cwd: desk.folder, env: env0, reject: false, timeout });
    });
    return Promise.all(ranks);
  }
  const onTwoHosts = async (...given: Parameters<typeof bothRanks>) =>
    (await bothRanks(...given))[0]!;

  beforeAll(async () => {
    if (reason !== undefined) return;
    expect(await weft('lab up --hosts 2 --nics 2 --rate 500mbit')).toMatchObject({ exitCode: 0 });
  }, timeout);
  beforeEach(({ skip }) => skip(reason !== undefined, reason));
  afterAll(async () => {
    if (reason === undefined) await weft('lab down --force');
    desk[Symbol.dispose]();
  });

  test('another clock and closed RDMA devices are warnings, and in the run file', {
    timeout,
  }, async () => {
    const sysfs = join(desk.folder, 'sysfs');
    mkdirSync(join(sysfs, 'class/infiniband/rdmap0s6'), { recursive: true });
    symlinkSync('/sys/class/net', join(sysfs, 'class/net'));
    const odd = ['env', `SYSFS_PATH=${sysfs}`, 'faketime', '-f', '-5s'];
    const { exitCode, stderr } = await onTwoHosts(odd);
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(
      /warning: h[01]: its clock is [45]\.\d s (ahead of that of h1|behind that of h0)\. Start an NTP/,
    );
    expect(stderr).toMatch(
      /warning: h1: there are RDMA devices \(rdmap0s6\) but no \/dev\/infiniband.*--device=\/dev\/infiniband/,
    );
    expect(desk.runs().at(-1)!.run.settings.warnings).toHaveLength(2);
  });

  test('another version of Weft ends it', { timeout }, async () => {
    const copy = join(desk.folder, 'copy');
    for (const part of ['bin', 'dist'])
      cpSync(join(root, part), join(copy, part), { recursive: true });
    for (const part of ['build', 'node_modules']) symlinkSync(join(root, part), join(copy, part));
    const manifest = readFileSync(join(root, 'package.json'), 'utf8');
    writeFileSync(
      join(copy, 'package.json'),
      manifest.replace(/"version": "[^"]+"/, '"version": "0.0.9"'),
    );
    const { exitCode, stderr } = await onTwoHosts([], write, join(copy, 'bin/weft'));
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /rank 1 on host h1 \(pid \d+\) runs Weft 0\.0\.9, but rank 0 on host h0 runs /,
    );
    expect(stderr).toContain('Install the same version of Weft on every host.');
  });

  test('too few open files for ranks and channels end it', { timeout }, async () => {
    const limited = ['prlimit', '--nofile=200:200'];
    const { exitCode, stderr } = await onTwoHosts(limited, [...write, '--channels', '80']);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /h1: a process may open 200 files, but needs \d+ for 2 ranks × 80 channels/,
    );
    expect(stderr).toContain('ulimit -n');
    const gate = 'gate --own --quiet --channels 80'.split(' ');
    const [first, second] = await bothRanks(limited, gate);
    expect(first!.exitCode).toBe(1);
    expect(second!.exitCode).toBe(4);
    expect(second!.stdout).toMatch(/^rank1 {2}fail {2}h1: a process may open 200 files/);
  });

  test('a provider that one host lacks ends it', { timeout }, async () => {
    const devices = [process.execPath, bin, 'emulate', 'efa', '--nics', '1', '--'];
    const { exitCode, stderr } = await onTwoHosts(devices);
    expect(exitCode).toBe(3);
    expect(stderr).toMatch(/efa is missing on h0\n.*To measure without it, set --provider to tcp/);
    const gate = await onTwoHosts(devices, 'gate --provider efa --format json'.split(' '));
    expect(gate.exitCode).toBe(4);
    expect(JSON.parse(gate.stdout).nodes).toMatchObject([
      { grade: 'fail', reason: 'efa is missing on h0' },
      { grade: 'unmeasured' },
    ]);
  });

  test('a firewall and a switch with small frames are told apart', { timeout }, async () => {
    inSpace('ip', switchSpace(lab), 'link', 'set', 'h1r0', 'mtu', '1500');
    const drop = 'iifname "nic1" tcp flags & (syn|ack) == syn drop';
    const rules = `table inet fw {\nchain input {\ntype filter hook input priority 0\n${drop}\n}\n}\n`;
    execFileSync('ip', ['netns', 'exec', hostSpace(lab, 1), 'nft', '-f', '-'], { input: rules });
    const { exitCode, stderr } = await onTwoHosts([]);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /rail 0 \(nic0\): .*h0 does not reach h1.*full frames do not: the network/,
    );
    expect(stderr).toMatch(
      /rail 1 \(nic1\): h0 does not reach h1 \(the host answers ARP.*a firewall drops the packets/,
    );
    expect(stderr).toMatch(
      /\nOpen TCP between the hosts.*Set the same MTU|\nSet the same MTU.*Open TCP/,
    );
  });
});
