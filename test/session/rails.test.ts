import { expect, test } from 'vitest';
import { brokenRails, commonRails, networkOf } from '../../src/session/rails.js';

test.each([
  ['10.77.3.9/24', '10.77.3.0/24'],
  ['10.77.3.9/8', '10.0.0.0/8'],
  ['192.168.255.255/32', '192.168.255.255/32'],
])('%s is on %s', (cidr, network) => {
  expect(networkOf(cidr)).toBe(network);
});

test('addresses of one IPv6 network are on the same one, others are not', () => {
  expect(networkOf('fd00::1/64')).toBe(networkOf('fd00::2/64'));
  expect(networkOf('fd00::1/64')).toBe(networkOf('fd00:0:0:0:9::/64'));
  expect(networkOf('fd00:0:0:1::1/64')).not.toBe(networkOf('fd00::1/64'));
  expect(networkOf('fd00::1/126')).not.toBe(networkOf('fd00::5/126'));
});

test('rails are the networks all ranks have, in rank 0’s order', () => {
  const rail = (nic: string, network: string) => ({ nic, network });
  const first = [rail('a', '3'), rail('b', '1'), rail('c', '2')];
  const second = [rail('x', '1'), rail('y', '3')];
  expect(commonRails([first, second])).toEqual(['3', '1']);
});

test('a rail on which some hosts have no carrier is named with those hosts', () => {
  const rail = { nic: 'nic1', network: '10.77.1.0/24' };
  const whole = { rails: [rail], noCarrier: [] };
  const pulled = { rails: [], noCarrier: ['nic1'] };
  const hosts = ['h0', 'h1', 'h2'];
  expect(brokenRails([whole, pulled, whole], hosts)).toEqual([{ ...rail, hosts: ['h1'] }]);
  expect(brokenRails([whole, whole], hosts)).toEqual([]);
});

test('a network that a host never had is not a broken rail', () => {
  const rail = { nic: 'nic1', network: '10.77.1.0/24' };
  expect(
    brokenRails(
      [
        { rails: [rail], noCarrier: [] },
        { rails: [], noCarrier: [] },
      ],
      ['h0', 'h1'],
    ),
  ).toEqual([]);
});
