// Everything above CUDA's driver, on a stand-in for it that runs the kernels on the CPU.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { openFabric } from '../../src/fabric/fabric.js';
import { isOffered } from '../../src/fabric/providers.js';
import { openGpu } from '../../src/gpu/gpu.js';
import { HostBuffer } from '../../src/memory/buffer.js';
import { describeGpu } from './device-suite.js';
import { buildStandIn } from './stand-in.js';

process.env.WEFT_LIBCUDA = buildStandIn();

describe('on a stand-in for a GPU', () => {
  describeGpu(openGpu);
});

test('copies of registered GPU memory are over only when the bytes are in place', async ({
  skip,
}) => {
  // The one provider that registers what CUDA does not know as GPU memory.
  if (!isOffered('sockets')) skip('this libfabric has no provider sockets');
  const folder = mkdtempSync(join(tmpdir(), 'weft-driver-log-'));
  const log = join(folder, 'log');
  const syncMemops = /^- cuPointerSetAttribute 6$/gm;
  try {
    await using fabric = await openFabric({ provider: 'sockets', channels: 2 });
    process.env.STAND_IN_LOG = log;
    fabric.allocateDevice(1000, openGpu(), 'hmem').close();
    expect(readFileSync(log, 'utf8').match(syncMemops)).toHaveLength(1);
    fabric.allocateDevice(1000, openGpu(), 'hmem').close();
    expect(readFileSync(log, 'utf8').match(syncMemops)).toHaveLength(2);
  } finally {
    delete process.env.STAND_IN_LOG;
    rmSync(folder, { recursive: true });
  }
});

describe('bench:gpu', () => {
  const program = fileURLToPath(new URL('../../comparisons/bench-gpu.mjs', import.meta.url));
  const small = ['--mib', '4', '--copy-mib', '2', '--rounds', '1', '--repeats', '1'];
  const judged = (slow: string) => {
    const env = { ...process.env, STAND_IN_SLOW: slow };
    return spawnSync(process.execPath, [program, ...small], { encoding: 'utf8', env });
  };

  test('passes where fill and verify are as fast as memory', () => {
    const { status, stdout } = judged('');
    expect(stdout).toMatch(/^fill .* of memset .* met$/m);
    expect(stdout).toMatch(/^verify .* of the best read .* met$/m);
    expect(status).toBe(0);
  });

  test.each(['fill', 'verify'])('fails where %s takes twice that', (work) => {
    const { status, stdout } = judged(`weft_${work}`);
    expect(stdout.match(/^(fill|verify) .* MISSED$/gm)).toEqual([
      expect.stringMatching(`^${work} +50.0 %`),
    ]);
    expect(status).toBe(1);
  });
});

describe('a GPU that fails', () => {
  afterEach(() => {
    delete process.env.STAND_IN_FAIL;
  });

  test('in mid-run rejects what was under way and everything after it, at once', async () => {
    const buffer = openGpu().allocate(1000);
    process.env.STAND_IN_FAIL = 'cuStreamSynchronize:700';
    const lost = expect.objectContaining({
      code: 'GPU_FAULT',
      message: expect.stringMatching(/address/),
      hint: expect.stringMatching(/Xid/),
    });
    await expect(buffer.fill(1)).rejects.toEqual(lost);
    await expect(buffer.verify(1)).rejects.toEqual(lost);
    buffer.close();
  });

  test('at a launch says so', async () => {
    using buffer = openGpu().allocate(1000);
    process.env.STAND_IN_FAIL = 'cuLaunchKernel:719';
    await expect(buffer.fill(1)).rejects.toEqual(expect.objectContaining({ code: 'GPU_FAULT' }));
  });

  test('to load the kernels is too old or of another kind', async () => {
    using buffer = openGpu().allocate(1000);
    process.env.STAND_IN_FAIL = 'cuModuleGetFunction:209';
    await expect(buffer.fill(1)).rejects.toEqual(
      expect.objectContaining({ code: 'UNSUPPORTED', hint: expect.stringMatching(/8\.0/) }),
    );
  });

  test('while memory is zeroed leaves nothing allocated', () => {
    const gpu = openGpu();
    const before = gpu.freeBytes();
    process.env.STAND_IN_FAIL = 'cuMemsetD32Async:719';
    expect(() => gpu.allocate(2 ** 20)).toThrow(expect.objectContaining({ code: 'GPU_FAULT' }));
    delete process.env.STAND_IN_FAIL;
    expect(gpu.freeBytes()).toBe(before);
  });

  test('without DMABUF says UNSUPPORTED', () => {
    using buffer = openGpu().allocate(1000);
    process.env.STAND_IN_FAIL = 'cuMemGetHandleForAddressRange:801';
    expect(() => buffer.exportDmabuf()).toThrow(expect.objectContaining({ code: 'UNSUPPORTED' }));
  });

  test('to register pinned memory is a memory limit', () => {
    openGpu();
    process.env.STAND_IN_FAIL = 'cuMemHostRegister_v2:2';
    expect(() => new HostBuffer(2 ** 20, { memory: 'pinned' })).toThrow(
      expect.objectContaining({
        code: 'MEMORY_LIMIT',
        message: expect.stringMatching(/with CUDA/),
      }),
    );
  });
});
