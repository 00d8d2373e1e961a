import { expect, test } from 'vitest';
import { parseResent, tcpResent } from '../../../src/session/path/tcp-resent.js';

test('the kernel’s count of segments sent again is found by name', () => {
  const text = 'Ip: Forwarding\nIp: 1\nTcp: RtoMin RetransSegs InErrs\nTcp: 200 37 0\n';
  expect(parseResent(text)).toBe(37);
  expect(parseResent('Tcp: RtoMin\nTcp: 200\n')).toBeUndefined();
  expect(parseResent('')).toBeUndefined();
});

test('this machine tells it', () => {
  expect(tcpResent()).toBeGreaterThanOrEqual(0);
});
