import { describe, expect, test } from 'vitest';
import { connectPair, connectRanks, software } from './pair.js';

const MiB = 2 ** 20;
const closed = expect.objectContaining({ code: 'CLOSED' });

describe.each(software)('%s', (provider) => {
  test('a fabric closed twice is closed', async () => {
    await using link = await connectPair({ provider }, 64);
    await link.fabrics[0].close();
    await expect(link.fabrics[0].close()).resolves.toBeUndefined();
  });

  test('a closed fabric makes no channel, buffer or remote region', async () => {
    await using link = await connectPair({ provider }, 64);
    const [fabric] = link.fabrics;
    const description = link.target.describe();
    await fabric.close();
    expect(() => fabric.channel(1)).toThrow(closed);
    expect(() => fabric.allocate(64)).toThrow(closed);
    expect(() => fabric.remote(description)).toThrow(closed);
  });

  test('every operation on a closed fabric’s channel rejects', async () => {
    await using link = await connectPair({ provider }, 64);
    const from = link.source.slice();
    const to = link.remoteTarget.slice();
    await link.fabrics[0].close();
    for (const attempt of [
      link.a.write(from, to),
      link.a.send(from),
      link.a.recv(from),
      link.a.immediate(1),
      link.a.immediate(1, { timeoutMs: 1000 }),
    ]) {
      await expect(attempt).rejects.toMatchObject({ code: 'CLOSED' });
    }
  });

  test('what is awaited when the fabric closes rejects', async () => {
    await using link = await connectPair({ provider }, 64);
    const awaited = [
      link.b.recv(link.target.slice()),
      link.b.recv(link.target.slice(), { timeoutMs: 5000 }),
      link.b.immediate(1),
      link.b.immediate(2, { signal: new AbortController().signal }),
    ];
    const ends = Promise.allSettled(awaited);
    await link.fabrics[1].close();
    for (const end of await ends) expect(end).toMatchObject({ reason: { code: 'CLOSED' } });
  });

  test('a write cut short by closing rejects', async () => {
    await using link = await connectPair({ provider }, 16 * MiB);
    const cut = link.a.write(link.source.slice(), link.remoteTarget.slice());
    const end = expect(cut).rejects.toMatchObject({ code: 'CLOSED' });
    await link.fabrics[0].close();
    await end;
  });

  test('a buffer in flight refuses to close, and closes when the transfer is done', async () => {
    await using link = await connectPair({ provider }, 64);
    const received = link.b.recv(link.target.slice());
    expect(() => link.target.close()).toThrow(expect.objectContaining({ code: 'BUSY' }));
    expect(link.target.closed).toBe(false);
    await link.a.send(link.source.slice());
    await received;
    link.target.close();
    expect(link.target.closed).toBe(true);
  });

  test('closing the fabric closes its buffers and detaches their views', async () => {
    await using link = await connectPair({ provider }, 64);
    const view = link.source.view();
    expect(view).toHaveLength(64);
    await link.fabrics[0].close();
    expect(link.source.closed).toBe(true);
    expect(view).toHaveLength(0);
    expect(() => link.source.view()).toThrow(closed);
  });

  test('buffers and remote regions close twice, also after their fabric', async () => {
    await using link = await connectPair({ provider }, 64);
    link.remoteTarget.close();
    link.remoteTarget.close();
    link.source.close();
    link.source.close();
    await link.fabrics[1].close();
    link.target.close();
    link.remoteSource.close();
  });

  test('a closed remote region is not written to', async () => {
    await using link = await connectPair({ provider }, 64);
    const to = link.remoteTarget.slice();
    link.remoteTarget.close();
    await expect(link.a.write(link.source.slice(), to)).rejects.toMatchObject({ code: 'CLOSED' });
  });

  test('what belongs to another fabric is refused', async () => {
    await using link = await connectPair({ provider }, 64);
    const own = link.source.slice();
    const others = link.target.slice();
    const attempts = [
      link.a.write(others, link.remoteTarget.slice()),
      link.a.write(own, link.remoteSource.slice()),
      link.a.send(others),
      link.a.recv(others),
    ];
    for (const attempt of attempts) await expect(attempt).rejects.toThrow(TypeError);
  });

  test('a write needs both sides to be of one length', async () => {
    await using link = await connectPair({ provider }, 64);
    const attempt = link.a.write(link.source.slice(0, 8), link.remoteTarget.slice(0, 9));
    await expect(attempt).rejects.toThrow(/cannot write 8 bytes to a slice of 9 bytes/);
  });

  test.each([
    [-1, 1],
    [0, 65],
    [65, 0],
    [0.5, 1],
    [0, Number.NaN],
    [1, -1],
  ])('a slice at %d of %d bytes is refused', async (offset, bytes) => {
    await using link = await connectPair({ provider }, 64);
    expect(() => link.source.slice(offset, bytes)).toThrow(TypeError);
    expect(() => link.remoteTarget.slice(offset, bytes)).toThrow(TypeError);
    expect(() => link.source.view(offset, bytes)).toThrow(TypeError);
  });

  test.each([-1, 65536, 1.5, Number.NaN])('%d is no immediate', async (immediate) => {
    await using link = await connectPair({ provider }, 64);
    const write = link.a.write(link.source.slice(), link.remoteTarget.slice(), { immediate });
    await expect(write).rejects.toThrow(TypeError);
    await expect(link.b.immediate(immediate)).rejects.toThrow(TypeError);
  });

  test('a fabric connects once, and only to as many channels as it has', async () => {
    await using ranks = await connectRanks({ provider, channels: 1 }, 2);
    const [first, second] = ranks.fabrics;
    expect(() => first!.connect(0, [])).toThrow(TypeError);
    expect(() => first!.channel(2)).toThrow(TypeError);
    expect(() => second!.channel(0, 1)).toThrow(TypeError);
  });
});
