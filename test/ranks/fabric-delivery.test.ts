import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { providers } from '../contract/pair.js';
import { openTarget, type RemoteTarget } from './fabric-target.js';
import { pause } from './processes.js';

const KiB = 1024;
const MiB = 1024 * KiB;
const sizes = [64, 64 * KiB, 16 * MiB];

/** How a write stands after a while, without disturbing it. */
const after = (ms: number, write: Promise<void>): Promise<string> =>
  Promise.race([write.then(() => 'resolved'), pause(ms).then(() => 'under way')]);

const cases = providers.filter(({ options }) => !options.basicRegistration);

describe.each(cases)('over $name, a target that stops', ({ options: opened }) => {
  describe('and goes on later', () => {
    let target: RemoteTarget;
    beforeAll(async () => {
      target = await openTarget(opened, 16 * MiB);
    });
    afterAll(() => target[Symbol.asyncDispose]());

    test.each(
      sizes.flatMap((bytes) => [
        { bytes, options: {} },
        { bytes, options: { immediate: 1 } },
      ]),
    )(
      'has the bytes of every write that resolved: $bytes, $options',
      async ({ bytes, options }) => {
        await target.source.fill(Math.floor(Math.random() * 2 ** 32));
        await target.stop();
        expect(target.has(bytes)).toBe(false);
        const to = target.remote.slice(0, bytes);
        const write = target.channel.write(target.source.slice(0, bytes), to, options);
        const state = await after(100, write);
        // Some providers reach the memory of a stopped process by themselves; then it must really be there.
        const there = target.has(bytes);
        target.resume();
        expect({ state, there }).not.toEqual({ state: 'resolved', there: false });
        await write;
        expect(target.has(bytes)).toBe(true);
      },
    );
  });

  test('lets a write end at its deadline; what follows arrives once it goes on', async () => {
    await using target = await openTarget(opened, MiB);
    await target.source.fill(3);
    await target.stop();
    const writes = [64, MiB].map((bytes) =>
      target.channel.write(target.source.slice(0, bytes), target.remote.slice(0, bytes), {
        timeoutMs: 100,
      }),
    );
    for (const end of await Promise.allSettled(writes)) {
      if (end.status === 'rejected') expect(end.reason).toMatchObject({ code: 'TIMEOUT' });
    }
    target.resume();
    await target.channel.write(target.source.slice(), target.remote.slice(), {
      timeoutMs: 10_000,
    });
    expect(target.has(MiB)).toBe(true);
    await expect.poll(() => tryClose(target.source), { timeout: 5000 }).toBe(true);
  });

  test.each([64, MiB])('and is killed first ends a write of %i bytes', async (bytes) => {
    await using target = await openTarget(opened, bytes);
    await target.kill();
    const write = target.channel.write(target.source.slice(), target.remote.slice(), {
      timeoutMs: 300,
    });
    await expect(write).rejects.toMatchObject({
      code: expect.stringMatching(/TIMEOUT|FABRIC_FAULT/),
    });
  });

  test('and is killed in the middle of a write ends it', async () => {
    await using target = await openTarget(opened, MiB);
    await target.stop();
    const write = target.channel.write(target.source.slice(0, 64), target.remote.slice(0, 64), {
      timeoutMs: 1000,
    });
    const end = Promise.allSettled([write]);
    await target.kill();
    expect(await end).toMatchObject([
      { status: 'rejected', reason: { code: expect.stringMatching(/TIMEOUT|FABRIC_FAULT/) } },
    ]);
  });
});

function tryClose(buffer: { close(): void }): boolean {
  try {
    buffer.close();
    return true;
  } catch {
    return false;
  }
}
