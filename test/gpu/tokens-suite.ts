import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Gpu } from '../../src/gpu/gpu.js';
import {
  type CopyPart,
  gatherParts,
  type KernelBuffer,
  prepareCopy,
  prepareSums,
  type RowSums,
  rowDtypes,
  scatterParts,
} from '../../src/gpu/tokens.js';
import { HostBuffer } from '../../src/memory/buffer.js';
import { formats, referenceSums, rowArray, withOneNan } from './row-sums.js';

/** Copies and sums that a GPU must do, and a stand-in for one too. `open` is called inside the tests. */
export function describeTokens(open: () => Gpu): void {
  describe('copies of parts', () => describeCopies(open));
  describe.each(rowDtypes.map((dtype) => ({ dtype })))('sums of $dtype', ({ dtype }) =>
    describeSums(open, dtype),
  );
}

const seedOf = 77;

function copied(parts: readonly CopyPart[], from: Uint8Array, to: Uint8Array): Uint8Array {
  const result = to.slice();
  for (const part of parts) result.set(from.subarray(part.from, part.from + part.bytes), part.to);
  return result;
}

async function contents(buffer: KernelBuffer): Promise<Uint8Array> {
  if (buffer instanceof HostBuffer) return buffer.view().slice();
  using host = new HostBuffer(buffer.bytes);
  await buffer.copyTo(host);
  return host.view().slice();
}

/** Runs the copy and compares the whole target with what it must be. */
async function check(gpu: Gpu, parts: readonly CopyPart[], to: KernelBuffer, from: KernelBuffer) {
  await from.fill(seedOf);
  await to.fill(seedOf + 1);
  const expected = copied(parts, await contents(from), await contents(to));
  using kernel = prepareCopy(gpu, parts);
  await kernel.run(to, from);
  expect(Buffer.compare(await contents(to), expected)).toBe(0);
}

/** Lengths and gaps one after the other in the target, from anywhere in the source. */
function layOut(list: readonly { gap: number; bytes: number; from: number }[]): CopyPart[] {
  let to = 0;
  return list.map(({ gap, bytes, from }) => {
    to += gap + bytes;
    return { from, to: to - bytes, bytes };
  });
}

function describeCopies(open: () => Gpu): void {
  const reach = 60_000;
  const one = fc.record({
    gap: fc.oneof(fc.nat(3), fc.nat(40), fc.constant(16)),
    bytes: fc.oneof(fc.nat(40), fc.nat(700), fc.nat(13_000), fc.constantFrom(0, 16, 4096, 7392)),
    from: fc.oneof(fc.nat(40), fc.nat(reach - 13_000)),
  });

  test('of any length, at any place, arrive, and nothing else changes', async () => {
    const gpu = open();
    using device = gpu.allocate(reach);
    using pinned = new HostBuffer(reach, { memory: 'pinned' });
    await fc.assert(
      fc.asyncProperty(fc.array(one, { maxLength: 30 }), fc.nat(2), async (list, kind) => {
        const parts = layOut(list);
        const last = parts.at(-1);
        const bytes = last ? last.to + last.bytes + 100 : 100;
        using target =
          kind === 2 ? new HostBuffer(bytes, { memory: 'pinned' }) : gpu.allocate(bytes);
        await check(gpu, parts, target, kind === 1 ? pinned : device);
      }),
      { numRuns: 60 },
    );
  });

  test('at every distance between the places of source and target', async () => {
    const gpu = open();
    using from = gpu.allocate(8192);
    using to = gpu.allocate(8192);
    const parts = Array.from({ length: 17 }, (_, i) => ({ from: i, to: 400 * i + 3, bytes: 333 }));
    await check(gpu, parts, to, from);
  });

  test('that are long are as right as short ones', async () => {
    const gpu = open();
    using from = gpu.allocate(3_000_100);
    using to = gpu.allocate(3_000_100);
    await check(gpu, [{ from: 7, to: 71, bytes: 3_000_005 }], to, from);
    await check(gpu, [{ from: 7, to: 72, bytes: 3_000_005 }], to, from);
  });

  test('of which there are none, or which are empty, change nothing', async () => {
    const gpu = open();
    using from = gpu.allocate(64);
    using to = gpu.allocate(64);
    await check(gpu, [], to, from);
    await check(gpu, [{ from: 3, to: 64, bytes: 0 }], to, from);
  });

  test('of which there are 100,000', async () => {
    const gpu = open();
    const parts = layOut(
      Array.from({ length: 100_000 }, (_, i) => ({
        gap: i % 3,
        bytes: (i * 7) % 61,
        from: (i * 7919) % 999_000,
      })),
    );
    using from = gpu.allocate(1_000_000);
    using to = gpu.allocate(parts.at(-1)!.to + 100);
    await check(gpu, parts, to, from);
  });

  test('gather rows, and scatter them back to their places', async () => {
    const gpu = open();
    const rowBytes = 7168 + 224;
    const rows = Array.from({ length: 100 }, (_, i) => (i * 37) % 100);
    using original = gpu.allocate(100 * rowBytes);
    using packed = gpu.allocate(100 * rowBytes);
    using unpacked = gpu.allocate(100 * rowBytes);
    using gather = prepareCopy(gpu, gatherParts(rows, rowBytes));
    using scatter = prepareCopy(gpu, scatterParts(rows, rowBytes));
    await original.fill(5);
    await gather.run(packed, original);
    for (const [i, row] of [rows[0]!, rows[1]!, rows[99]!].entries()) {
      const place = { offset: [0, 1, 99][i]! * rowBytes, bytes: rowBytes };
      expect(await packed.verify(5, { ...place, position: row * rowBytes })).toMatchObject({
        wrong: 0,
      });
    }
    await scatter.run(unpacked, packed);
    expect(await unpacked.verify(5)).toMatchObject({ wrong: 0 });
  });

  test('are timed by repeats that leave the same bytes', async () => {
    const gpu = open();
    using from = gpu.allocate(100_000);
    using to = gpu.allocate(100_000);
    await from.fill(3);
    using kernel = prepareCopy(gpu, [{ from: 0, to: 0, bytes: 100_000 }]);
    expect(await kernel.time(to, from, 3)).toBeGreaterThan(0);
    expect(await to.verify(3)).toMatchObject({ wrong: 0 });
  });
}

function describeSums(open: () => Gpu, dtype: RowSums['dtype']): void {
  const { wide, rounded } = formats[dtype];
  const width = dtype === 'float32' ? 4 : 2;

  /** Sums rows of these numbers, or bits, and compares. `lead` bytes before both are left alone. */
  async function checkSums(sums: Omit<RowSums, 'dtype'>, bits: readonly number[]) {
    const gpu = open();
    const all: RowSums = { ...sums, dtype };
    using host = new HostBuffer(bits.length * width);
    rowArray(dtype, host.view().buffer).set(bits);
    using from = gpu.allocate(host.bytes);
    await from.copyFrom(host);
    const expected = referenceSums(all, bits);
    using to = gpu.allocate(expected.length * width);
    await to.set(0xee);
    using kernel = prepareSums(gpu, all);
    await kernel.run(to, from);
    const found = rowArray(dtype, (await contents(to)).buffer);
    expect(withOneNan(dtype, found)).toEqual(withOneNan(dtype, expected));
  }

  const anyBits = fc.oneof(
    fc.nat(2 ** (8 * width) - 1),
    fc.double({ min: -4, max: 4, noNaN: true }).map((value) => rounded(Math.fround(value))),
  );

  test('are those of a CPU, bit by bit, whatever the rows hold', async () => {
    const shape = fc.record({
      elements: fc.oneof(fc.constantFrom(8, 16, 64), fc.integer({ min: 1, max: 70 })),
      addends: fc.integer({ min: 1, max: 16 }),
      tokens: fc.integer({ min: 1, max: 9 }),
      rows: fc.integer({ min: 1, max: 12 }),
    });
    const cases = shape.chain(({ elements, addends, tokens, rows }) => {
      const exactly = (length: number) => ({ minLength: length, maxLength: length });
      const count = exactly(tokens * addends);
      return fc.record({
        elements: fc.constant(elements),
        addends: fc.constant(addends),
        index: fc.array(fc.integer({ min: -1, max: rows - 1 }), count),
        weights: fc.array(fc.oneof(fc.float(), fc.constantFrom(1, 0.5, -1)), count),
        bits: fc.array(anyBits, exactly(rows * elements)),
      });
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ bits, index, weights, ...rest }) => {
        const lists = { index: new Int32Array(index), weights: new Float32Array(weights) };
        await checkSums({ ...rest, ...lists }, bits);
      }),
      { numRuns: 60 },
    );
  });

  test('round ties to even, once, and keep infinities, zeros and NaN', async () => {
    const unit = 2 ** (dtype === 'bfloat16' ? -7 : dtype === 'float16' ? -10 : -23);
    const numbers = [1, 1 + unit, 1 + 2 * unit, -1, 0, -0, Number.POSITIVE_INFINITY, Number.NaN];
    const rows = [
      numbers,
      numbers.map(() => 0.5 * unit),
      numbers.map(() => -0),
      numbers.map(() => Number.NEGATIVE_INFINITY),
    ].map((row) => row.map((value) => rounded(Math.fround(value))));
    const index = new Int32Array([0, 1, -1, 0, 1, 1, 2, 2, -1, 0, 3, -1, 2, 0, 2, -1, -1, -1]);
    const weights = new Float32Array(index.length).fill(1);
    await checkSums({ elements: 8, addends: 3, index, weights }, rows.flat());
  });

  test('of many tokens and long rows fill the GPU', async () => {
    const [elements, addends, tokens, rows] = [1032, 8, 40, 64];
    const bits = Array.from({ length: rows * elements }, (_, i) =>
      rounded(Math.fround(Math.sin(i) * (1 + (i % 7)))),
    );
    const index = Int32Array.from({ length: tokens * addends }, (_, i) => ((i * 29) % 65) - 1);
    const weights = Float32Array.from(index, (_, i) => Math.cos(i));
    await checkSums({ elements, addends, index, weights }, bits);
  });

  test('of a missing addend never read it, though its weight be NaN', async () => {
    const index = new Int32Array([-1, 0]);
    const weights = new Float32Array([Number.NaN, 2]);
    await checkSums({ elements: 3, addends: 2, index, weights }, [1, 2, 3].map(rounded));
    expect(wide(rounded(2))).toBe(2);
  });

  test('of no tokens, or of rows without elements, write nothing', async () => {
    const none = { index: new Int32Array(), weights: new Float32Array() };
    await checkSums({ elements: 8, addends: 2, ...none }, new Array(8).fill(0));
    const empty = { index: new Int32Array([0, 1]), weights: new Float32Array(2) };
    await checkSums({ elements: 0, addends: 2, ...empty }, [0]);
  });
}
