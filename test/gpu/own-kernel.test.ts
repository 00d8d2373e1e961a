// examples/kernel-puts.mjs: a kernel of the user's own asks for puts, with two ranks on one GPU. Every rank compares every
// byte. Transfers are asked for by three launches, each with Senders of its own.
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { gpuAvailability } from '../../src/gpu/gpu.js';
import { run } from '../ranks/processes.js';

const availability = gpuAvailability();
const reason = 'reason' in availability ? availability.reason.message : undefined;
const why = reason === undefined ? '' : ` (skipped: ${reason})`;
const example = fileURLToPath(new URL('../../examples/kernel-puts.mjs', import.meta.url));

describe.skipIf(reason !== undefined)(`a kernel of one’s own on a GPU${why}`, () => {
  test.each(['shm', 'tcp'])('puts to the next rank over %s', async (provider) => {
    const { code, stdout, stderr } = await run(process.execPath, [example], {
      env: { KERNEL_PUTS_PROVIDER: provider },
    });
    expect(stdout + stderr).toMatch('rank 0: 0 of 2400000 values are wrong');
    expect(stdout + stderr).toMatch('rank 1: 0 of 2400000 values are wrong');
    expect(code).toBe(0);
  });
});
