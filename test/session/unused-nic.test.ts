import { expect, test } from 'vitest';
import {
  describeUnused,
  distinct,
  isNetworkFault,
  type UnusedNic,
} from '../../src/session/unused-nic.js';

const deaf: UnusedNic = {
  nic: 'nic0',
  host: 'h1',
  reason: 'does-not-reach',
  text: 'does not reach h2',
  peer: 'h2',
};
const closed: UnusedNic = {
  nic: 'efa1',
  host: 'h1',
  reason: 'does-not-open',
  text: 'cannot be opened: no such device',
};

test('an unused NIC is named once, with its hosts and the reason', () => {
  const hosts = Array.from({ length: 64 }, (_, i) => ({ ...closed, host: `h${i}` }));
  expect(describeUnused([closed, deaf, { ...closed, host: 'h2' }])).toEqual([
    'efa1 on h1, h2: cannot be opened: no such device',
    'nic0 on h1: does not reach h2',
  ]);
  expect(describeUnused(hosts)).toEqual([
    'efa1 on h0, h1, h2, h3, 60 more: cannot be opened: no such device',
  ]);
});

test('what two ranks tell is told once', () => {
  expect(distinct([deaf, closed, { ...deaf }])).toEqual([deaf, closed]);
});

test('only a link or a way that does not carry is the network’s fault', () => {
  expect([deaf, closed].map(isNetworkFault)).toEqual([true, false]);
});
