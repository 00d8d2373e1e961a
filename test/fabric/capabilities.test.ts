import { expect, test } from 'vitest';
import { canReadRemote } from '../../src/fabric/capabilities.js';

const rma = 1n << 2n;
const [read, write, remoteRead, remoteWrite] = [8n, 9n, 12n, 13n].map((bit) => 1n << bit) as [
  bigint,
  bigint,
  bigint,
  bigint,
];

test.each([
  ['RMA of every kind', rma, true],
  ['RMA with all kinds named', rma | read | write | remoteRead | remoteWrite, true],
  ['writes only', rma | write | remoteWrite, false],
  ['reads that nobody may make', rma | read | write | remoteWrite, false],
  ['messages only', 1n << 1n, false],
])('%s', (_, caps, expected) => {
  expect(canReadRemote(caps)).toBe(expected);
});
