import { describe, expect, test } from 'vitest';
import {
  memoryMode,
  mrBits,
  offeredMrMode,
  remoteBase,
  requestedKey,
} from '../../src/fabric/memory-mode.js';

const { LOCAL, VIRT_ADDR, ALLOCATED, PROV_KEY, ENDPOINT, HMEM, BASIC, RAW, RMA_EVENT } = mrBits;
const nothing = { providerKeys: false, virtualAddresses: false };
const hardware = { providerKeys: true, virtualAddresses: true };
const addresses = { ...nothing, virtualAddresses: true };

// As libfabric's providers declare them.
const declared = [
  { name: 'tcp, net and sockets', bits: 0, mode: nothing },
  { name: 'shm', bits: VIRT_ADDR, mode: addresses },
  { name: 'shm with GPU memory', bits: VIRT_ADDR | HMEM, mode: addresses },
  { name: 'efa', bits: VIRT_ADDR | ALLOCATED | PROV_KEY, mode: hardware },
  {
    name: 'efa-direct with GPU memory',
    bits: VIRT_ADDR | ALLOCATED | PROV_KEY | LOCAL | HMEM,
    mode: hardware,
  },
  { name: 'verbs', bits: LOCAL | VIRT_ADDR | ALLOCATED | PROV_KEY, mode: hardware },
  { name: 'the old FI_MR_BASIC', bits: BASIC, mode: hardware },
  { name: 'regions bound to endpoints', bits: ENDPOINT, mode: nothing },
];

describe('memory registration', () => {
  test.each(declared)('$name in words', ({ bits, mode }) => {
    expect(memoryMode(bits)).toEqual(mode);
  });

  test.each(declared.filter(({ bits }) => bits !== BASIC))(
    '$name is within our offer',
    ({ bits }) => {
      expect(bits & ~offeredMrMode).toBe(0);
    },
  );

  test.each([
    ['FI_MR_RAW', RAW],
    ['FI_MR_RMA_EVENT', RMA_EVENT],
  ])('%s is refused by name, and not offered', (name, bit) => {
    expect(() => memoryMode(VIRT_ADDR | bit)).toThrow(
      expect.objectContaining({ code: 'UNSUPPORTED', message: expect.stringContaining(name) }),
    );
    expect(offeredMrMode & bit).toBe(0);
  });

  test('a remote place is a virtual address or an offset', () => {
    expect(remoteBase(memoryMode(VIRT_ADDR), 0x7f00_1234_5000n)).toBe(0x7f00_1234_5000n);
    expect(remoteBase(memoryMode(0), 0x7f00_1234_5000n)).toBe(0n);
  });
});

describe('keys', () => {
  const ours = memoryMode(0);

  test('are left to the provider where it wants to choose', () => {
    expect(requestedKey(memoryMode(PROV_KEY), 77, 8)).toBe(0n);
  });

  test('differ from region to region where they are ours', () => {
    expect([1, 2, 3].map((serial) => requestedKey(ours, serial, 8))).toEqual([1n, 2n, 3n]);
  });

  test.each([
    [1, 255],
    [2, 65_535],
    [4, 2 ** 32 - 1],
  ])('of %i bytes end at %i', (bytes, last) => {
    expect(requestedKey(ours, last, bytes)).toBe(BigInt(last));
    expect(() => requestedKey(ours, last + 1, bytes)).toThrow(
      expect.objectContaining({ code: 'UNSUPPORTED' }),
    );
  });

  test.each([0, 8, 16])('of %i bytes never run out', (bytes) => {
    expect(requestedKey(ours, Number.MAX_SAFE_INTEGER, bytes)).toBe(2n ** 53n - 1n);
  });
});
