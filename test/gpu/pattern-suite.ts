import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Gpu } from '../../src/gpu/gpu.js';
import { HostBuffer } from '../../src/memory/buffer.js';

const right = { wrong: 0 };
/** Several tiles and grids of the kernels, and a rest. */
const manyTiles = 1_200_003;

/** What one fills the other verifies. */
export function describePattern(open: () => Gpu): void {
  const place = fc.record({
    offset: fc.nat(70),
    bytes: fc.oneof(fc.nat(100), fc.nat(manyTiles - 70)),
    position: fc.oneof(fc.nat(40), fc.nat(2 ** 40)),
    seed: fc.nat(2 ** 50),
  });

  test('what the GPU fills the CPU verifies, at any offset, length, position and seed', async () => {
    using device = open().allocate(manyTiles);
    using host = new HostBuffer(manyTiles);
    await fc.assert(
      fc.asyncProperty(place, async ({ offset, bytes, position, seed }) => {
        await device.set(0);
        await device.fill(seed, { offset, bytes, position });
        await device.copyTo(host);
        expect(await host.verify(seed, { offset, bytes, position })).toMatchObject(right);
        expect(await device.verify(seed, { offset, bytes, position })).toMatchObject(right);
        const outside = [...host.view(0, offset), ...host.view(offset + bytes).subarray(0, 64)];
        expect(outside.every((byte) => byte === 0)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  test('what the CPU fills the GPU verifies, and finds a byte that is not right', async () => {
    using device = open().allocate(manyTiles);
    using host = new HostBuffer(manyTiles, { memory: 'pinned' });
    await fc.assert(
      fc.asyncProperty(place, fc.nat(2 ** 30), async ({ offset, bytes, position, seed }, where) => {
        await host.fill(seed, { offset, bytes, position });
        await device.copyFrom(host);
        expect(await device.verify(seed, { offset, bytes, position })).toMatchObject(right);
        if (bytes === 0) return;
        const at = where % bytes;
        const expected = host.view(offset + at, 1)[0]!;
        const found = expected ^ (1 << (where % 8));
        await device.set(found, { offset: offset + at, bytes: 1 });
        expect(await device.verify(seed, { offset, bytes, position })).toEqual({
          ...{ wrong: 1, offset: at },
          ...{ expected, found },
        });
      }),
      { numRuns: 60 },
    );
  });

  test('of another seed or another position is another pattern', async () => {
    using device = open().allocate(8192);
    await device.fill(1);
    for (const seed of [0, 2, 1000]) {
      expect((await device.verify(seed)).wrong).toBeGreaterThan(8000);
    }
    for (const position of [1, 4, 8, 16, 4096]) {
      expect((await device.verify(1, { position })).wrong).toBeGreaterThan(8000);
    }
  });
}

export function describeMismatches(open: () => Gpu): void {
  test('every wrong byte is counted and the first is named', async () => {
    using device = open().allocate(manyTiles);
    await device.fill(9, { offset: 3, position: 5 });
    const bytes = manyTiles - 3;
    const places = [77, 32_768, 500_000, 500_001, bytes - 1];
    using host = new HostBuffer(1);
    for (const at of places) {
      await device.copyTo(host, { offset: 3 + at, bytes: 1 });
      await device.set(host.view()[0]! ^ 0xff, { offset: 3 + at, bytes: 1 });
    }
    expect(await device.verify(9, { offset: 3, position: 5 })).toMatchObject({
      wrong: places.length,
      offset: 77,
    });
  });

  test('wholly wrong data is all counted, from the first byte', async () => {
    using device = open().allocate(manyTiles);
    using host = new HostBuffer(manyTiles);
    await host.fill(6);
    const view = host.view();
    for (let i = 0; i < view.length; i++) view[i] = view[i]! ^ 0xff;
    await device.copyFrom(host);
    expect(await device.verify(6)).toMatchObject({ wrong: manyTiles, offset: 0 });
  });
}
