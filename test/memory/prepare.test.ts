import { describe, expect, test } from 'vitest';
import { HostBuffer, openFabric } from '../../src/index.js';
import { addon } from '../../src/native/addon.js';

const GiB = 2 ** 30;
const MiB = 2 ** 20;

describe('a large buffer', () => {
  test.each([false, true])(
    'lets JavaScript run while it is prepared (locked: %s)',
    async (locked) => {
      const memory = new (addon().Memory)(GiB, locked, true);
      const task = memory.prepare();
      const seen = new Set<number>();
      let over = false;
      const end = task.done.then(() => {
        over = true;
      });
      while (!over) {
        seen.add(task.prepared());
        await new Promise(setImmediate);
      }
      await end;
      expect(task.prepared()).toBe(GiB);
      memory.close();
      // The loop turned between the first page and the last.
      expect([...seen].filter((bytes) => bytes > 0 && bytes < GiB).length).toBeGreaterThan(2);
    },
  );

  test('is given up when its signal aborts', async () => {
    const controller = new AbortController();
    const preparing = HostBuffer.prepare(4 * GiB, { signal: controller.signal });
    await new Promise(setImmediate);
    controller.abort(new Error('enough'));
    await expect(preparing).rejects.toThrow('enough');
    await expect(HostBuffer.prepare(64, { signal: controller.signal })).rejects.toThrow('enough');
  });
});

describe('a prepared buffer', () => {
  test('is as one that was allocated', async () => {
    using buffer = await HostBuffer.prepare(3 * MiB + 5, { memory: 'pinned' });
    expect(buffer).toMatchObject({ bytes: 3 * MiB + 5, memory: 'pinned' });
    await buffer.fill(7);
    await expect(buffer.verify(7)).resolves.toMatchObject({ wrong: 0 });
  });

  test('of no bytes is a buffer, of half a byte a TypeError', async () => {
    using buffer = await HostBuffer.prepare(0);
    expect(buffer.view().length).toBe(0);
    await expect(HostBuffer.prepare(0.5)).rejects.toThrow(TypeError);
  });

  test('that is too large is refused with its size', async () => {
    await expect(HostBuffer.prepare(2 ** 50)).rejects.toMatchObject({
      code: 'MEMORY_LIMIT',
      message: expect.stringContaining('cannot allocate 1024T of memory'),
    });
  });
});

describe('a fabric', () => {
  test('is busy while it registers, and free again afterwards', async () => {
    await using fabric = await openFabric({ provider: 'shm' });
    const { native } = fabric.port;
    using memory = await HostBuffer.prepare(MiB);
    const registering = native.addRegionLater(memory.native, [77n]);
    expect(() => native.addRegion(memory.native, [78n])).toThrow('a buffer is being registered');
    const { id, keys } = await registering;
    expect(keys).toHaveLength(1);
    expect(native.removeRegion(id)).toBe(true);
  });

  test('that refuses to register is free again', async () => {
    await using fabric = await openFabric({ provider: 'shm' });
    const { native } = fabric.port;
    using memory = await HostBuffer.prepare(MiB);
    await expect(native.addRegionLater(memory.native, [])).rejects.toThrow();
    using buffer = await fabric.prepare(MiB);
    expect(buffer.describe().bytes).toBe(MiB);
  });

  test('that is closed prepares nothing', async () => {
    const fabric = await openFabric({ provider: 'shm' });
    await fabric.close();
    await expect(fabric.prepare(64)).rejects.toMatchObject({ code: 'CLOSED' });
  });
});
