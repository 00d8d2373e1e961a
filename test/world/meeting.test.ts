import type { NetworkInterfaceInfo } from 'node:os';
import { describe, expect, test } from 'vitest';
import { identify } from '../../src/world/identity.js';
import { chooseInterface, matchInterfaces } from '../../src/world/interfaces.js';
import { planMeeting } from '../../src/world/rendezvous/meeting.js';

const address = (text: string, internal = false): NetworkInterfaceInfo =>
  ({
    address: text,
    family: text.includes(':') ? 'IPv6' : 'IPv4',
    internal,
  }) as NetworkInterfaceInfo;
const interfaces = {
  lo: [address('127.0.0.1', true), address('::1', true)],
  eth0: [address('10.0.0.1'), address('fe80::1'), address('fd00::1')],
  eth1: [address('fe80::2'), address('fd01::1')],
  docker0: [address('172.17.0.1')],
};
const rankOf = (rank: number, local: number, masterHost: string) => ({
  RANK: `${rank}`,
  WORLD_SIZE: '4',
  LOCAL_RANK: `${rank % local}`,
  LOCAL_WORLD_SIZE: `${local}`,
  GROUP_RANK: `${Math.floor(rank / local)}`,
  MASTER_ADDR: masterHost,
  MASTER_PORT: '4000',
});
const plan = (env: Record<string, string>, iface?: string) =>
  planMeeting(identify(env), { env, interfaces, ...(iface === undefined ? {} : { iface }) });

describe('on one host', () => {
  test.each([
    ['10.0.0.1', ['127.0.0.1']],
    ['localhost', ['127.0.0.1', '::1']],
    ['::1', ['::1']],
  ])('MASTER_ADDR=%s never listens beyond loopback', (host, hosts) => {
    const env = { ...rankOf(0, 4, host), GLOO_SOCKET_IFNAME: 'eth0' };
    expect(plan(env)).toMatchObject({ listenHosts: hosts, connectHosts: hosts });
  });
});

describe('on several hosts', () => {
  test('rank 0 listens everywhere, even where MASTER_ADDR is localhost', () => {
    expect(plan(rankOf(0, 2, 'localhost')).listenHosts).toEqual(['::', '0.0.0.0']);
  });

  test('ranks beside rank 0 look for it where it listens', () => {
    const env = { ...rankOf(1, 2, 'localhost'), NCCL_SOCKET_IFNAME: 'eth' };
    expect(plan(env).connectHosts[0]).toBe('10.0.0.1');
  });

  test('another host whose MASTER_ADDR points to itself is told so', () => {
    expect(() => plan(rankOf(2, 2, 'localhost'))).toThrowError(/points to that host itself/);
    expect(plan(rankOf(2, 2, '10.0.0.1')).connectHosts).toEqual(['10.0.0.1']);
  });

  test.each([
    ['--iface', {}, 'eth0', '10.0.0.1'],
    ['GLOO_SOCKET_IFNAME', { GLOO_SOCKET_IFNAME: 'nope,eth1' }, undefined, 'fd01::1'],
    ['NCCL_SOCKET_IFNAME', { NCCL_SOCKET_IFNAME: '^lo,docker' }, undefined, '10.0.0.1'],
    ['--iface before both', { GLOO_SOCKET_IFNAME: 'eth0' }, 'docker0', '172.17.0.1'],
  ])('%s chooses the address', (_, env, iface, expected) => {
    expect(plan({ ...rankOf(0, 2, '10.0.0.1'), ...env }, iface).listenHosts).toEqual([expected]);
  });

  test('an IPv6 MASTER_ADDR prefers the IPv6 address of the interface', () => {
    expect(plan(rankOf(0, 2, 'fd00::1'), 'eth0').listenHosts).toEqual(['fd00::1']);
  });

  test('an interface that is not there is an error that lists what is', () => {
    expect(() => plan(rankOf(0, 2, '10.0.0.1'), 'ib0')).toThrowError(
      expect.objectContaining({ code: 'BAD_USAGE', hint: expect.stringMatching(/eth0, eth1/) }),
    );
  });
});

describe('names of interfaces', () => {
  const names = ['lo', 'eth0', 'eth10', 'ib0'];
  test.each([
    ['eth', ['eth0', 'eth10']],
    ['=eth0', ['eth0']],
    ['ib,eth1', ['ib0', 'eth10']],
    ['^lo,eth', ['ib0']],
    ['^=eth0', ['lo', 'eth10', 'ib0']],
  ])('NCCL_SOCKET_IFNAME=%s', (wanted, expected) => {
    expect(matchInterfaces({ wanted, from: 'NCCL_SOCKET_IFNAME' }, names)).toEqual(expected);
  });

  test('gloo and --iface mean exactly what they say', () => {
    expect(matchInterfaces({ wanted: 'eth', from: 'GLOO_SOCKET_IFNAME' }, names)).toEqual([]);
    expect(chooseInterface({ NCCL_SOCKET_IFNAME: 'a', GLOO_SOCKET_IFNAME: 'b' })?.wanted).toBe('b');
  });
});
