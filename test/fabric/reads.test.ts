import { expect, test } from 'vitest';
import { loadLibrary } from '../../src/fabric/library.js';
import { addon } from '../../src/native/addon.js';

test('reads are offered where all of RMA is, or reading and being read are named', () => {
  loadLibrary();
  const offers = addon().getInfo({ anything: true });
  const has = (caps: bigint, ...bits: bigint[]) => bits.every((bit) => (caps >> bit) & 1n);
  const [rma, read, write, remoteRead, remoteWrite] = [2n, 8n, 9n, 12n, 13n] as const;
  for (const { caps, reads } of offers) {
    const unnamed = ![read, write, remoteRead, remoteWrite].some((bit) => has(caps, bit));
    expect(reads).toBe(has(caps, rma) && (unnamed || has(caps, read, remoteRead)));
  }
  expect(new Set(offers.map(({ reads }) => reads)).size).toBe(2);
});
