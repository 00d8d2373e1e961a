import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HostBuffer } from '../../src/memory/buffer.js';

const right = { wrong: 0 };

describe('the test pattern', () => {
  test('verifies where it was filled, at any offset, length and position', async () => {
    using buffer = new HostBuffer(20_000);
    await fc.assert(
      fc.asyncProperty(
        fc.nat(40),
        fc.nat(19_000),
        fc.nat(2 ** 40),
        fc.nat(2 ** 50),
        async (offset, bytes, position, seed) => {
          await buffer.fill(seed, { offset, bytes, position });
          expect(await buffer.verify(seed, { offset, bytes, position })).toMatchObject(right);
        },
      ),
      { numRuns: 200 },
    );
  });

  test('is the same wherever it lies, and part of it is the same as the whole', async () => {
    using buffer = new HostBuffer(4096);
    await buffer.fill(5, { offset: 1, bytes: 1000 });
    buffer.view().copyWithin(2003, 1, 1001);
    expect(await buffer.verify(5, { offset: 2003, bytes: 1000 })).toMatchObject(right);
    const part = { offset: 2003 + 13, bytes: 501, position: 13 };
    expect(await buffer.verify(5, part)).toMatchObject(right);
  });

  test('touches nothing outside its range', async () => {
    using buffer = new HostBuffer(64);
    buffer.view().fill(7);
    await buffer.fill(1, { offset: 3, bytes: 21 });
    expect([...buffer.view(0, 3), ...buffer.view(24)]).toEqual(Array(43).fill(7));
  });

  // 300,000 bytes are checked on a pool thread, the others where they are.
  test.each([1, 7, 8, 9, 4095, 4096, 4097, 300_000])(
    'finds and names one flipped bit among %i bytes',
    async (bytes) => {
      using buffer = new HostBuffer(bytes + 3);
      await buffer.fill(9, { offset: 3, position: 5 });
      const view = buffer.view(3);
      const places = bytes < 10 ? [...view.keys()] : [0, 1, bytes >> 1, bytes - 2, bytes - 1];
      for (const place of places) {
        const expected = view[place]!;
        view[place] = expected ^ 0x10;
        expect(await buffer.verify(9, { offset: 3, position: 5 })).toEqual({
          wrong: 1,
          offset: place,
          expected,
          found: expected ^ 0x10,
        });
        view[place] = expected;
      }
    },
  );

  test('counts every wrong byte and names the first', async () => {
    using buffer = new HostBuffer(100_000);
    await buffer.fill(9);
    const view = buffer.view();
    for (const place of [77, 5000, 99_999]) view[place] = view[place]! ^ 0xff;
    expect(await buffer.verify(9)).toMatchObject({ wrong: 3, offset: 77 });
  });

  test('of another seed is another pattern, not a shifted one', async () => {
    using buffer = new HostBuffer(8192);
    await buffer.fill(1);
    for (const seed of [0, 2, 3, 1000]) {
      for (const position of [0, 8, 16, 800]) {
        const { wrong } = await buffer.verify(seed, { position });
        expect(wrong).toBeGreaterThan(8000);
      }
    }
  });

  test('at another position differs: bytes in the wrong place are found', async () => {
    using buffer = new HostBuffer(8192);
    await buffer.fill(1);
    for (const position of [1, 8, 4096]) {
      expect((await buffer.verify(1, { position })).wrong).toBeGreaterThan(8000);
    }
  });

  test.each([-1, 0.5, Number.NaN, 2 ** 53])('%d is no seed', async (seed) => {
    using buffer = new HostBuffer(8);
    await expect(buffer.fill(seed)).rejects.toThrow(TypeError);
  });
});
