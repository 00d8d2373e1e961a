import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exchanged, expectedExchange, missing, program, type Running, start } from './processes.js';
import { TwoHosts, whyNoHosts } from './two-hosts.js';

const reason = missing({ ip: 'iproute2', unshare: 'util-linux' }) ?? whyNoHosts();

describe('two hosts', () => {
  let folder: string;
  let hosts: TwoHosts;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'weft-hosts-'));
    const file = join(folder, 'hosts');
    writeFileSync(file, '127.0.0.1 localhost\n::1 localhost\n10.99.0.1 node1\n10.99.0.2 node2\n');
    if (reason === undefined) hosts = new TwoHosts(file);
  });
  afterAll(() => {
    hosts?.[Symbol.dispose]();
    rmSync(folder, { recursive: true });
  });

  /** Two ranks on each host, set by hand after torchrun's convention. */
  function launch(name: string, masters: [string, string], env: NodeJS.ProcessEnv = {}): Running[] {
    return [0, 1, 2, 3].map((rank) => {
      const host = rank < 2 ? 0 : 1;
      const [enter = '', ...rest] = hosts.inside(host);
      return start(enter, [...rest, process.execPath, program(name)], {
        env: {
          RANK: `${rank}`,
          WORLD_SIZE: '4',
          LOCAL_RANK: `${rank % 2}`,
          LOCAL_WORLD_SIZE: '2',
          GROUP_RANK: `${host}`,
          MASTER_ADDR: masters[host],
          MASTER_PORT: '12345',
          ...env,
        },
      });
    });
  }

  test.for<[string, [string, string], NodeJS.ProcessEnv]>([
    ["localhost on rank 0's host, its address on the other", ['localhost', '10.99.0.1'], {}],
    [
      'the same, on a chosen interface',
      ['localhost', '10.99.0.1'],
      { GLOO_SOCKET_IFNAME: 'cable' },
    ],
    ['a name', ['node1', 'node1'], { NCCL_SOCKET_IFNAME: '^lo' }],
    ['IPv6', ['fd99::1', 'fd99::1'], { GLOO_SOCKET_IFNAME: 'cable' }],
  ])('MASTER_ADDR: %s', async ([, masters, env], { skip }) => {
    skip(reason !== undefined, reason);
    const done = await Promise.all(launch('exchange', masters, env).map((rank) => rank.finished));
    const ranks = exchanged(done.map(({ stdout }) => stdout).join(''));
    expect(ranks, done.map(({ stderr }) => stderr).join('')).toMatchObject(expectedExchange(4));
    expect(ranks[0]).toMatchObject({ hosts: ['node1', 'node1', 'node2', 'node2'], netns: 2 });
  });

  test('localhost on the other host is refused with the way out', async ({ skip }) => {
    skip(reason !== undefined, reason);
    const ranks = launch('steady', ['localhost', 'localhost'], { TEST_TIMEOUT_MS: '1000' });
    const done = await Promise.all(ranks.map((rank) => rank.finished));
    expect(done[3]?.stderr).toMatch(
      /MASTER_ADDR=localhost on host 1 of the job points to that host itself/,
    );
    expect(done[0]?.stderr).toMatch(/2 of 4 ranks joined/);
  });

  test('a host that falls silent is noticed by both sides', async ({ skip }) => {
    skip(reason !== undefined, reason);
    const env = { TEST_HEARTBEAT_MS: '200', TEST_SILENCE_MS: '1500' };
    const ranks = launch('steady', ['10.99.0.1', '10.99.0.1'], env);
    await Promise.all(ranks.map((rank) => rank.says(/joined/)));
    hosts.cut();
    const done = await Promise.all(ranks.map((rank) => rank.finished));
    expect(done[0]?.stderr).toMatch(/PEER_LOST: rank [23] on host node2 .*silent for/);
    expect(done[1]?.stderr).toMatch(/PEER_LOST: rank [23] on host node2 .*silent for/);
    expect(done[3]?.stderr).toMatch(/PEER_LOST: rank 0 on host node1 .*silent for/);
  });
});
