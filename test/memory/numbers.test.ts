import { describe, expect, test } from 'vitest';
import { HostBuffer } from '../../src/memory/buffer.js';
import { hasAllInEachLine, type NumberPart, numbersFor } from '../../src/memory/numbers.js';
import { sumDtypes } from '../../src/plan/plan.js';

const of = (seed: number, weight = 1, position = 0) => ({ seed, position, weight });
const whole = (bytes: number, ...sumOf: NumberPart['sumOf'][number][]): NumberPart[] => [
  { offset: 0, bytes, sumOf },
];

describe.each(sumDtypes)('numbers in %s', (dtype) => {
  const kind = numbersFor(dtype, 4);

  test('are found again where they were written, and nowhere else', async () => {
    using buffer = new HostBuffer(4096);
    await buffer.writeNumbers(kind, whole(4096, of(7)));
    expect(await buffer.compareNumbers(kind, whole(4096, of(7)))).toMatchObject({ wrong: 0 });
    expect((await buffer.compareNumbers(kind, whole(4096, of(8)))).wrong).toBeGreaterThan(1000);
    const moved = { offset: 1024, bytes: 1024, sumOf: [of(7, 1, 1024)] };
    expect(await buffer.compareNumbers(kind, [moved])).toMatchObject({ wrong: 0 });
    const elsewhere = { ...moved, sumOf: [of(7, 1, 2048)] };
    expect((await buffer.compareNumbers(kind, [elsewhere])).wrong).toBeGreaterThan(100);
  });

  test('add up to the sum, and a changed bit is found', async () => {
    using buffer = new HostBuffer(4096);
    const sum = whole(4096, of(1), of(2), of(3));
    await buffer.writeNumbers(kind, sum);
    const other = await buffer.compareNumbers(kind, whole(4096, of(3), of(1), of(2)));
    expect(other.wrong).toBe(0);
    const view = buffer.view();
    view[1001]! ^= 0x40;
    const found = await buffer.compareNumbers(kind, sum);
    expect(found).toMatchObject({ wrong: 1, offset: 1001, found: view[1001] });
  });
});

test('float32 numbers are −3 … 3 and never 0, and a weight multiplies them', async () => {
  using buffer = new HostBuffer(4000);
  const kind = numbersFor('float32', 2);
  await buffer.writeNumbers(kind, whole(4000, of(5)));
  const plain = [...new Float32Array(buffer.view().buffer, 0, 1000)];
  expect(new Set(plain)).toEqual(new Set([-3, -2, -1, 1, 2, 3]));
  await buffer.writeNumbers(kind, whole(4000, of(5, 0.5)));
  const half = [...new Float32Array(buffer.view().buffer, 0, 1000)];
  expect(half).toEqual(plain.map((value) => value / 2));
});

test('bfloat16 numbers of up to 256 ranks are never 0, nor are those of weighted sums', () => {
  const kinds = [1, 85, 86, 128, 256, 257, 8192].map((ranks) => numbersFor('bfloat16', ranks));
  expect(kinds.map(({ largest }) => largest)).toEqual([3, 3, 2, 2, 1, 1, 1]);
  expect(kinds.map(({ sparsity }) => sparsity)).toEqual([1, 1, 1, 1, 1, 2, 32]);
});

test('a lost addend shows in every line, however many ranks there are', async () => {
  const world = 512;
  const kind = numbersFor('bfloat16', world);
  expect(hasAllInEachLine(kind, 64)).toBe(true);
  using buffer = new HostBuffer(256);
  const addends = Array.from({ length: world }, (_, rank) => of(1000 + rank));
  for (const lost of [0, 1, 255, 511]) {
    await buffer.writeNumbers(kind, whole(256, ...addends.toSpliced(lost, 1)));
    for (const offset of [0, 64, 128, 192]) {
      const sumOf = addends.map((one) => ({ ...one, position: offset }));
      const found = await buffer.compareNumbers(kind, [{ offset, bytes: 64, sumOf }]);
      expect(found.wrong).toBeGreaterThan(0);
    }
  }
});

test('lines that are too short for all ranks are known', () => {
  const ends = [0, 2, 4, 64, 66, 68].map((bytes) =>
    hasAllInEachLine(numbersFor('bfloat16', 512), bytes),
  );
  expect(ends).toEqual([true, false, true, true, false, true]);
  expect(hasAllInEachLine(numbersFor('bfloat16', 8193), 4096)).toBe(false);
  expect(hasAllInEachLine(numbersFor('bfloat16', 256), 2)).toBe(true);
});

test('most bfloat16 numbers of many ranks are 0, so that their sum is exact', async () => {
  const kind = numbersFor('bfloat16', 1024);
  expect(kind.sparsity).toBeGreaterThan(1);
  using buffer = new HostBuffer(2048);
  const addends = Array.from({ length: 1024 }, (_, rank) => of(rank));
  await buffer.writeNumbers(kind, whole(2048, ...addends));
  const words = new Uint16Array(buffer.view().buffer, 0, 1024);
  const values = [...words].map(
    (bits) => new Float32Array(new Uint32Array([bits << 16]).buffer)[0]!,
  );
  expect(values.every((value) => Number.isInteger(value) && Math.abs(value) <= 256)).toBe(true);
  expect(values.some((value) => Math.abs(value) > 3)).toBe(true);
});

test('parts outside the buffer, inside a number or cut short are refused', async () => {
  using buffer = new HostBuffer(64);
  const kind = numbersFor('float32', 2);
  const write = (part: NumberPart) => buffer.writeNumbers(kind, [part]);
  await expect(write({ offset: 32, bytes: 64, sumOf: [] })).rejects.toThrow(/outside/);
  await expect(write({ offset: 0, bytes: 6, sumOf: [] })).rejects.toThrow(/outside/);
  await expect(write({ offset: 0, bytes: 8, sumOf: [of(1, 1, 2)] })).rejects.toThrow(
    /inside a number/,
  );
  await expect(write({ offset: -1, bytes: 8, sumOf: [] })).rejects.toThrow(/malformed/);
});
