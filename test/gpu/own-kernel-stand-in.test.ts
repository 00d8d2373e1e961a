// Loading and launching PTX, on a stand-in for CUDA's driver that runs Weft's pattern kernels on the CPU.
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { openGpu } from '../../src/gpu/gpu.js';
import { encodeArguments, parametersOf } from '../../src/gpu/ptx.js';
import { HostBuffer } from '../../src/memory/buffer.js';
import { addon } from '../../src/native/addon.js';
import { buildStandIn } from './stand-in.js';

process.env.WEFT_LIBCUDA = buildStandIn();
const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const ptx = read('kernels/ptx/pattern.ptx');
const shape = { grid: 4, block: [64] };

describe('a kernel of PTX text', () => {
  afterEach(() => {
    delete process.env.STAND_IN_FAIL;
  });

  test('writes to GPU memory and to pinned memory', async () => {
    const gpu = openGpu();
    const kernel = gpu.loadKernel(ptx, 'weft_fill');
    using device = gpu.allocate(4096);
    using pinned = new HostBuffer(4096, { memory: 'pinned' });
    await kernel.launch(shape, [device, 4096, 99, 0n]);
    await kernel.launch(shape, [pinned.gpuAddress, 4096, 99, 0n]);
    using copy = new HostBuffer(4096);
    await device.copyTo(copy);
    expect(copy.view().some((byte) => byte !== 0)).toBe(true);
    expect(Buffer.compare(copy.view(), pinned.view())).toBe(0);
  });

  test('is refused where the PTX has none of that name, and names those it has', () => {
    expect(() => openGpu().loadKernel(ptx, 'fill')).toThrow(
      expect.objectContaining({ code: 'BAD_USAGE', hint: expect.stringMatching(/weft_fill/) }),
    );
  });

  test('takes as many arguments as it has parameters, each of its size', () => {
    const kernel = openGpu().loadKernel(ptx, 'weft_fill');
    expect(() => kernel.launch(shape, [1n])).toThrow('weft_fill takes 4 arguments, not 1');
    const bad = [1n, 1n, new Uint8Array(4), 1n];
    expect(() => kernel.launch(shape, bad)).toThrow('argument 2 of weft_fill must be');
    expect(() => kernel.launch({ grid: 0, block: 1 }, [1n, 1n, 1n, 1n])).toThrow('`grid` must be');
  });

  test('whose PTX the driver refuses is the user’s to mend', () => {
    process.env.STAND_IN_FAIL = 'cuModuleLoadDataEx:218';
    expect(() => openGpu().loadKernel(ptx, 'weft_fill')).toThrow(
      expect.objectContaining({ code: 'BAD_USAGE', hint: expect.stringMatching(/nvcc/) }),
    );
  });

  test('that does not end is given up at its deadline, or with the signal', async () => {
    const kernel = openGpu().loadKernel(ptx, 'weft_fill');
    using device = openGpu().allocate(64);
    const args = [device, 64, 1, 0];
    process.env.STAND_IN_FAIL = 'cuStreamQuery:600';
    await expect(kernel.launch(shape, args, { timeoutMs: 20 })).rejects.toMatchObject({
      code: 'TIMEOUT',
    });
    const ending = new AbortController();
    const launched = kernel.launch(shape, args, { signal: ending.signal });
    ending.abort(new Error('enough'));
    await expect(launched).rejects.toThrow('enough');
  });

  test('that fails is a fault of the GPU', async () => {
    const kernel = openGpu().loadKernel(ptx, 'weft_fill');
    process.env.STAND_IN_FAIL = 'cuStreamQuery:700';
    await expect(kernel.launch(shape, [0n, 0, 1, 0])).rejects.toMatchObject({ code: 'GPU_FAULT' });
  });
});

test('a board for a GPU has its own words, says how many producers it has, and takes no requests of the CPU', () => {
  openGpu();
  const board = new (addon().TransferBoard)({ producers: 3, shift: 4, gpu: 0 });
  const words = new BigUint64Array(board.context().slice().buffer);
  expect(words).toHaveLength(7);
  const [cells, gate, tickets, , delivered, pushed, producers] = words;
  expect(new Set([cells, gate, tickets, delivered, pushed, 0n]).size).toBe(6);
  expect(producers).toBe(3n);
  expect(() => board.putNbi(0, 0)).toThrow('blocks of a kernel');
});

describe('parameters in PTX', () => {
  test('are structures, pointers and numbers', () => {
    expect(parametersOf(read('examples/kernel-puts.ptx'), 'fillAndPut')).toEqual([
      { bytes: 56, kind: 'bytes' },
      { bytes: 8, kind: 'integer' },
      { bytes: 8, kind: 'integer' },
      { bytes: 8, kind: 'float' },
      { bytes: 8, kind: 'integer' },
    ]);
    expect(parametersOf('.visible .entry none()\n{', 'none')).toEqual([]);
  });

  test('are encoded as the kernel reads them', () => {
    const parameters = parametersOf(
      '.entry k(.param .u32 a, .param .f32 b, .param .f64 c, .param .u8 d, .param .align 8 .b8 e[3])',
      'k',
    );
    const args = [-1, 1.5, -2, 255, new Uint8Array([1, 2, 3])];
    expect(encodeArguments('k', parameters, args).map((one) => [...one])).toEqual([
      [255, 255, 255, 255],
      [0, 0, 192, 63],
      [0, 0, 0, 0, 0, 0, 0, 192],
      [255],
      [1, 2, 3],
    ]);
    expect(() => encodeArguments('k', parameters, [2 ** 32, 0, 0, 0, args[4]!])).toThrow(
      'argument 0',
    );
    expect(() => encodeArguments('k', parameters, [0, 0, 0, 256, args[4]!])).toThrow('argument 3');
  });
});
