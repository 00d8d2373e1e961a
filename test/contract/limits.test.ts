import { describe, expect, test } from 'vitest';
import { connectPair, software } from './pair.js';

const MiB = 2 ** 20;

describe.each(software)('%s', (provider) => {
  test('an AbortSignal that has fired already stops every operation before it starts', async () => {
    await using link = await connectPair({ provider }, 64);
    const signal = AbortSignal.abort();
    await link.target.fill(1);
    for (const attempt of [
      link.a.write(link.source.slice(), link.remoteTarget.slice(), { signal, immediate: 1 }),
      link.a.read(link.source.slice(), link.remoteTarget.slice(), { signal }),
      link.a.send(link.source.slice(), { signal }),
      link.a.recv(link.source.slice(), { signal }),
      link.a.immediate(1, { signal }),
    ]) {
      await expect(attempt).rejects.toMatchObject({ code: 'ABORTED' });
    }
    await expect(link.b.immediate(1, { timeoutMs: 50 })).rejects.toMatchObject({ code: 'TIMEOUT' });
    expect(await link.target.verify(1)).toMatchObject({ wrong: 0 });
    link.source.close(); // nothing was left in flight
  });

  test('the reason of a signal is the cause of the error', async () => {
    await using link = await connectPair({ provider }, 64);
    const stop = new AbortController();
    const received = link.b.recv(link.target.slice(), { signal: stop.signal });
    stop.abort(new Error('the user left'));
    await expect(received).rejects.toMatchObject({
      code: 'ABORTED',
      cause: { message: 'the user left' },
    });
  });

  test('an arrival that comes with the deadline is not lost', async () => {
    await using link = await connectPair({ provider }, 64);
    await expect(link.b.immediate(5, { timeoutMs: 20 })).rejects.toMatchObject({ code: 'TIMEOUT' });
    await link.a.write(link.source.slice(), link.remoteTarget.slice(), { immediate: 5 });
    await expect(link.b.immediate(5, { timeoutMs: 5000 })).resolves.toBeUndefined();
  });

  test('one waiter giving up leaves the others their place', async () => {
    await using link = await connectPair({ provider }, 64);
    const order: string[] = [];
    const first = link.b.immediate(5).then(() => order.push('first'));
    const second = link.b.immediate(5, { timeoutMs: 20 }).catch(() => order.push('gave up'));
    const third = link.b.immediate(5).then(() => order.push('third'));
    await second;
    for (let i = 0; i < 2; i++) {
      await link.a.write(link.source.slice(), link.remoteTarget.slice(), { immediate: 5 });
    }
    await Promise.all([first, third]);
    expect(order).toEqual(['gave up', 'first', 'third']);
  });

  test('timers run while two ranks of one process keep each other busy', async () => {
    await using link = await connectPair({ provider }, 64);
    let ticks = 0;
    const timer = setInterval(() => ticks++, 5);
    // Without turns for timers there would be no tick at all, however long this goes on.
    const until = performance.now() + 20_000;
    while (ticks <= 10 && performance.now() < until) {
      const received = link.b.recv(link.target.slice(0, 8));
      await link.a.send(link.source.slice(0, 8));
      await received;
    }
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(10);
  });
});

// The peer's endpoint is gone; some providers say so, others never answer. Not on shm, which hands an endpoint of its
// own process out by pointer: test/ranks has that one, with a process that is killed.
describe.each(software.filter((provider) => provider !== 'shm'))(
  'a dead peer on %s',
  (provider) => {
    test.each([64, 64 * 1024, 4 * MiB])(
      'a write of %i bytes to a dead peer ends',
      async (bytes) => {
        await using link = await connectPair({ provider }, bytes);
        await link.fabrics[1].close();
        const write = link.a.write(link.source.slice(), link.remoteTarget.slice(), {
          timeoutMs: 200,
        });
        await expect(write).rejects.toMatchObject({
          code: expect.stringMatching(/TIMEOUT|FABRIC_FAULT/),
        });
      },
    );

    test('a read from a dead peer ends', async () => {
      await using link = await connectPair({ provider }, MiB);
      await link.fabrics[1].close();
      const read = link.a.read(link.source.slice(), link.remoteTarget.slice(), { timeoutMs: 200 });
      await expect(read).rejects.toMatchObject({
        code: expect.stringMatching(/TIMEOUT|FABRIC_FAULT/),
      });
    });

    test('a large message to a dead peer ends', async () => {
      await using link = await connectPair({ provider }, 4 * MiB);
      await link.fabrics[1].close();
      const { maxMessageBytes } = link.fabrics[0].channels[0]!;
      const large = link.source.slice(0, Math.min(4 * MiB, maxMessageBytes));
      const send = link.a.send(large, { timeoutMs: 200 });
      await expect(send).rejects.toMatchObject({
        code: expect.stringMatching(/TIMEOUT|FABRIC_FAULT/),
      });
    });
  },
);
