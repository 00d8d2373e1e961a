import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { WeftError } from '../../src/errors.js';
import { gpuError } from '../../src/gpu/faults.js';
import { driverVersionText, normalisePci } from '../../src/gpu/gpu.js';
import { buildStandIn } from './stand-in.js';

const library = buildStandIn();
const dist = new URL('../../dist/index.js', import.meta.url).href;
const look = `import { gpuAvailability, openGpu } from ${JSON.stringify(dist)};
const { gpus, reason } = gpuAvailability();
let opened;
try { openGpu(); opened = true; } catch ({ code }) { opened = code; }
console.log(JSON.stringify({ gpus: gpus.length, code: reason?.code, message: reason?.message, hint: reason?.hint, opened }));`;

/** A driver is opened once a process: every case has its own. */
function availabilityWith(env: NodeJS.ProcessEnv) {
  const args = ['--input-type=module', '--eval', look];
  const options = { env: { ...process.env, ...env }, encoding: 'utf8' } as const;
  return JSON.parse(execFileSync(process.execPath, args, options));
}

describe('what GPUs there are', () => {
  test('with a driver and a GPU: it', () => {
    expect(availabilityWith({ WEFT_LIBCUDA: library })).toEqual({ gpus: 1, opened: true });
  });

  test.each([
    ['no such file', { WEFT_LIBCUDA: '/nowhere/libcuda.so.1' }, 'NO_GPU', /WEFT_LIBCUDA=\/nowhere/],
    ['another library', { WEFT_LIBCUDA: 'libm.so.6' }, 'GPU_DRIVER_TOO_OLD', /cuInit is missing/],
    ['an old driver', { STAND_IN_VERSION: '10020' }, 'GPU_DRIVER_TOO_OLD', /CUDA 10\.2/],
    ['no GPU', { STAND_IN_FAIL: 'cuInit:100' }, 'NO_GPU', /finds no GPU/],
    ['all GPUs hidden', { STAND_IN_GPUS: '0' }, 'NO_GPU', /finds no GPU/],
    ['a driver half updated', { STAND_IN_FAIL: 'cuInit:803' }, 'NO_GPU', /different versions/],
    ['no fabric manager', { STAND_IN_FAIL: 'cuInit:802' }, 'NO_GPU', /not ready/],
    ['a fault without a name', { STAND_IN_FAIL: 'cuInit:555' }, 'NO_GPU', /cuInit.*_555/],
  ])('with %s: why there is none', (_, env, code, message) => {
    const found = availabilityWith({ WEFT_LIBCUDA: library, ...env });
    expect(found).toMatchObject({ gpus: 0, code, opened: code });
    expect(found.message).toMatch(message);
    expect(found.hint).not.toBe('');
  });
});

describe('an error of CUDA’s', () => {
  const fault = (operation: string, code: number, text = 'words') =>
    Object.assign(new Error(text), { operation, code, text });

  test.each([
    ['cuMemAlloc', 2, 'MEMORY_LIMIT'],
    ['cuMemHostRegister', 2, 'MEMORY_LIMIT'],
    ['cuDeviceGet', 101, 'NO_GPU'],
    ['cuModuleLoadDataEx', 222, 'UNSUPPORTED'],
    ['cuMemGetHandleForAddressRange', 801, 'UNSUPPORTED'],
    ['cuStreamSynchronize', 214, 'GPU_FAULT'],
    ['cuStreamSynchronize', 719, 'GPU_FAULT'],
    ['cuLaunchKernel', 1, 'GPU_FAULT'],
    ['memory', 9, 'CLOSED'],
  ])('%s giving %i is %s', (operation, code, expected) => {
    const error = gpuError(fault(operation, code));
    expect(error).toBeInstanceOf(WeftError);
    expect(error).toMatchObject({ code: expected, cause: { operation, code } });
  });

  test('that is none passes through', () => {
    const error = new Error('other');
    expect(gpuError(error)).toBe(error);
  });
});

test('PCI addresses are compared as sysfs writes them', () => {
  expect(normalisePci('00000000:1A:00.0')).toBe('0000:1a:00.0');
  expect(normalisePci('1a:00.0')).toBe('0000:1a:00.0');
  expect(() => normalisePci('1a:00')).toThrow(expect.objectContaining({ code: 'BAD_USAGE' }));
});

test('CUDA’s version number reads as people write it', () => {
  expect([11000, 12040, 13000].map(driverVersionText)).toEqual(['11.0', '12.4', '13.0']);
});
