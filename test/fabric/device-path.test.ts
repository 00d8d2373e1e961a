import { describe, expect, test } from 'vitest';
import { devicePaths, hmemCapability } from '../../src/fabric/device-path.js';

// `caps` as fi_getinfo gave them when it was asked for FI_HMEM; undefined where it gave nothing.
const recorded = {
  'shm of Debian’s 1.17, which knows no CUDA': {
    provider: 'shm',
    library: { major: 1, minor: 17 },
    caps: 0x8238_0000_3f26n | hmemCapability,
  },
  'shm of 2.6': {
    provider: 'shm',
    library: { major: 2, minor: 6 },
    caps: 0x8238_0000_7f26n | hmemCapability,
  },
  'tcp;ofi_rxm of 1.17': {
    provider: 'tcp;ofi_rxm',
    library: { major: 1, minor: 17 },
    caps: undefined,
  },
  'efa of 1.19': { provider: 'efa', library: { major: 1, minor: 19 }, caps: hmemCapability | 0x6n },
  'efa of 1.22': { provider: 'efa', library: { major: 1, minor: 22 }, caps: hmemCapability | 0x6n },
  'verbs without FI_HMEM': { provider: 'verbs', library: { major: 2, minor: 0 }, caps: 0x6n },
} as const;

const pathsOf = (name: keyof typeof recorded, dmabuf = true) =>
  devicePaths({ ...recorded[name], dmabuf });

describe('the way to GPU memory', () => {
  test.each([
    ['shm of Debian’s 1.17, which knows no CUDA', ['hmem']],
    ['shm of 2.6', ['hmem']],
    ['efa of 1.19', ['hmem']],
    ['efa of 1.22', ['dmabuf', 'hmem']],
    ['tcp;ofi_rxm of 1.17', []],
    ['verbs without FI_HMEM', []],
  ] as const)('of %s: %j', (name, expected) => {
    expect(pathsOf(name).paths).toEqual(expected);
  });

  test('is an address where the GPU exports no DMABUF', () => {
    expect(pathsOf('efa of 1.22', false).paths).toEqual(['hmem']);
  });

  test('is staged with a reason that names provider and version', () => {
    expect(pathsOf('tcp;ofi_rxm of 1.17')).toEqual({
      paths: [],
      reason: 'tcp;ofi_rxm in libfabric 1.17 does not support GPU memory (no FI_HMEM)',
    });
  });

  test('needs FI_HMEM in what is offered, not only an offer', () => {
    expect(pathsOf('verbs without FI_HMEM')).toMatchObject({ reason: expect.any(String) });
  });
});
