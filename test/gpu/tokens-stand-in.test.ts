// Copies and sums of rows on a stand-in for CUDA's driver, which runs the kernels on the CPU; and what is refused.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { isOffered } from '../../src/fabric/providers.js';
import { openGpu } from '../../src/gpu/gpu.js';
import { prepareCopy, prepareSums, type RowSums } from '../../src/gpu/tokens.js';
import { HostBuffer } from '../../src/memory/buffer.js';
import { describeDeviceSums } from './device-sums-suite.js';
import { expectDirectSums } from './direct-sums-suite.js';
import { describeStagedParts } from './staged-parts-suite.js';
import { buildStandIn } from './stand-in.js';
import { describeTokens } from './tokens-suite.js';

process.env.WEFT_LIBCUDA = buildStandIn();
process.env.STAND_IN_GPUS = '2';

describe('tokens on a stand-in for a GPU', () => {
  describeTokens(openGpu);
  describe('staged transfers', () => describeStagedParts(openGpu));
  describe('sums of a plan', () => describeDeviceSums(openGpu));
});

test('a plan adds in GPU memory that the fabric reaches', async ({ skip }) => {
  // The one provider that registers what CUDA does not know as GPU memory.
  if (!isOffered('sockets')) skip('this libfabric has no provider sockets');
  await expectDirectSums(openGpu(), 'sockets');
});

describe('a copy of parts', () => {
  afterEach(() => {
    delete process.env.STAND_IN_FAIL;
  });

  test('is refused where a part is not a number of bytes', () => {
    for (const bad of [-1, 0.5, Number.NaN, 2 ** 53]) {
      expect(() => prepareCopy(openGpu(), [{ from: 0, to: 0, bytes: bad }])).toThrow(
        `part 0 has ${bad}`,
      );
      expect(() => prepareCopy(openGpu(), [{ from: bad, to: 0, bytes: 1 }])).toThrow(TypeError);
    }
  });

  test('is refused where a buffer is too small, and says how large it must be', async () => {
    const gpu = openGpu();
    using buffer = gpu.allocate(100);
    using large = gpu.allocate(200);
    using kernel = prepareCopy(gpu, [{ from: 0, to: 60, bytes: 50 }]);
    await expect(kernel.run(buffer, large)).rejects.toThrow(
      'the target needs 110 bytes and has 100',
    );
    using reading = prepareCopy(gpu, [{ from: 60, to: 0, bytes: 50 }]);
    await expect(reading.run(large, buffer)).rejects.toThrow(TypeError);
    await expect(reading.run(buffer, large)).resolves.toBeUndefined();
  });

  test('is refused between buffers that its GPU cannot reach', async () => {
    const gpu = openGpu();
    using here = gpu.allocate(100);
    using there = openGpu(1).allocate(100);
    using host = new HostBuffer(100);
    using kernel = prepareCopy(gpu, [{ from: 0, to: 0, bytes: 1 }]);
    await expect(kernel.run(here, there)).rejects.toThrow('the source is on GPU 1');
    await expect(kernel.run(host, here)).rejects.toMatchObject({
      code: 'BAD_USAGE',
      hint: expect.stringMatching(/pinned/),
    });
  });

  test('closed says so, twice closed is closed, and a closed buffer is refused', async () => {
    const gpu = openGpu();
    using to = gpu.allocate(8);
    const from = gpu.allocate(8);
    const kernel = prepareCopy(gpu, [{ from: 0, to: 0, bytes: 8 }]);
    from.close();
    await expect(kernel.run(to, from)).rejects.toMatchObject({ code: 'CLOSED' });
    await expect(kernel.time(to, to, 0)).rejects.toThrow('`repeats` must be');
    kernel.close();
    kernel.close();
    await expect(kernel.run(to, to)).rejects.toMatchObject({ code: 'CLOSED' });
  });

  test('that the GPU fails rejects', async () => {
    const gpu = openGpu();
    using buffer = gpu.allocate(8);
    using kernel = prepareCopy(gpu, [{ from: 0, to: 4, bytes: 4 }]);
    process.env.STAND_IN_FAIL = 'cuLaunchKernel:719';
    await expect(kernel.run(buffer, buffer)).rejects.toMatchObject({ code: 'GPU_FAULT' });
    process.env.STAND_IN_FAIL = 'cuModuleGetFunction:209';
    expect(() => prepareCopy(gpu, [])).toThrow(expect.objectContaining({ code: 'UNSUPPORTED' }));
  });
});

describe('a sum of rows', () => {
  const good: RowSums = {
    ...{ dtype: 'float32', elements: 4, addends: 2 },
    index: new Int32Array([0, 1]),
    weights: new Float32Array(2),
  };
  test.each([
    ['dtype', { dtype: 'int8' as 'float32' }, '`dtype` must be one of bfloat16'],
    ['elements', { elements: -1 }, '`elements` must be'],
    ['no addends', { addends: 0 }, '`addends` must be a whole number from 1 to 16'],
    ['too many addends', { addends: 17 }, 'from 1 to 16, not 17'],
    ['index', { index: new Int32Array(3) }, 'must both have 2 entries per token'],
    ['weights', { weights: new Float32Array(1) }, 'but have 2 and 1'],
    ['a row', { index: new Int32Array([0, -2]) }, 'index[1] is -2'],
  ])('is refused for its %s', (_, change, message) => {
    expect(() => prepareSums(openGpu(), { ...good, ...change })).toThrow(message);
  });

  test('needs a source that has every row, and a target for every token', async () => {
    const gpu = openGpu();
    using row = gpu.allocate(16);
    using rows = gpu.allocate(32);
    using kernel = prepareSums(gpu, good);
    await expect(kernel.run(row, row)).rejects.toThrow('the source needs 32 bytes and has 16');
    await expect(kernel.run(row, rows)).resolves.toBeUndefined();
  });
});

describe('bench:tokens', () => {
  const program = fileURLToPath(new URL('../../comparisons/bench-tokens.mjs', import.meta.url));
  const small = ['--tokens', '4', '--pages', '8', '--rounds', '1', '--repeats', '1'];
  const judged = (slow: string) => {
    const env = { ...process.env, STAND_IN_SLOW: slow };
    return spawnSync(process.execPath, [program, ...small], { encoding: 'utf8', env });
  };

  test('passes where kernels are as fast as copies', () => {
    const { status, stdout, stderr } = judged('');
    expect(stderr).toBe('');
    expect(stdout).not.toMatch('MISSED');
    expect(status).toBe(0);
  });

  test.each([
    ['weft_copy_parts', /^(gather|scatter) .* MISSED$/m],
    ['weft_sum_bfloat16', /^weighted sum .* MISSED$/m],
  ])('fails where %s takes twice that', (slow, line) => {
    const { status, stdout } = judged(slow);
    expect(stdout).toMatch(line);
    expect(status).toBe(1);
  });
});
