import { describe, expect, test } from 'vitest';
import { ignoresDirection } from '../../src/fabric/providers.js';
import { seededRandom } from '../../src/measure/seeded-random.js';
import { shuffle } from '../native/hooks.js';
import { connectPair, connectRanks, software, wrongAfterWrites } from './pair.js';

const KiB = 1024;

describe.each(software)('%s', (provider) => {
  test('two peers sending the same value are told apart', async () => {
    await using ranks = await connectRanks({ provider }, 3);
    const [target, ...writers] = ranks.fabrics;
    const inbox = target!.allocate(16);
    const write = async (writer: number, count: number) => {
      const fabric = writers[writer - 1]!;
      const outbox = fabric.allocate(8);
      const remote = fabric.remote(inbox.describe());
      for (let i = 0; i < count; i++) {
        await fabric.channel(0).write(outbox.slice(), remote.slice(8 * (writer - 1), 8), {
          immediate: 7,
        });
      }
    };
    await Promise.all([write(1, 3), write(2, 1)]);
    for (let i = 0; i < 3; i++) await target!.channel(1).immediate(7, { timeoutMs: 5000 });
    await target!.channel(2).immediate(7, { timeoutMs: 5000 });
    for (const peer of [1, 2]) {
      const more = target!.channel(peer).immediate(7, { timeoutMs: 30 });
      await expect(more).rejects.toMatchObject({ code: 'TIMEOUT' });
    }
  });

  // `net`, and `tcp` in libfabric 2, promise directed receives and do not keep it: there they are errors, never mixed up.
  test('each receive takes its own peer’s message or fails, whoever comes first', async () => {
    await using ranks = await connectRanks({ provider }, 3);
    const [target, one, two] = ranks.fabrics;
    const { directedReceives } = target!.channels[0]!;
    if (provider !== 'efa-direct') {
      expect(directedReceives).toBe(!ignoresDirection(target!.provider));
    }
    const inbox = target!.allocate(128);
    const fromOne = target!.channel(1).recv(inbox.slice(0, 64));
    const fromTwo = target!.channel(2).recv(inbox.slice(64, 64));
    for (const [seed, fabric] of [
      [2, two],
      [1, one],
    ] as const) {
      const outbox = fabric!.allocate(64);
      await outbox.fill(seed);
      await fabric!.channel(0).send(outbox.slice());
    }
    const ends = await Promise.allSettled([fromOne, fromTwo]);
    const status = directedReceives ? 'fulfilled' : 'rejected';
    expect(ends.map((end) => end.status)).toEqual([status, status]);
    if (!directedReceives) return;
    expect(await inbox.verify(1, { bytes: 64 })).toMatchObject({ wrong: 0 });
    expect(await inbox.verify(2, { offset: 64 })).toMatchObject({ wrong: 0 });
  });

  test('without directed receives a pair exchanges messages of every size', async () => {
    await using link = await connectPair({ provider, undirected: true }, 256 * KiB);
    const { directedReceives, maxMessageBytes } = link.fabrics[0].channels[0]!;
    if (provider !== 'efa-direct') expect(directedReceives).toBe(false);
    for (const size of [0, 1, 200, 64 * KiB + 1, 256 * KiB]) {
      const bytes = Math.min(size, maxMessageBytes);
      await link.source.fill(bytes);
      const received = link.b.recv(link.target.slice());
      await link.a.send(link.source.slice(0, bytes));
      expect(await received).toBe(bytes);
      expect(await link.target.verify(bytes, { bytes })).toMatchObject({ wrong: 0 });
    }
  });

  test('without directed receives a message in the wrong hands is an error', async () => {
    await using ranks = await connectRanks({ provider, undirected: true }, 3);
    const [target, , two] = ranks.fabrics;
    if (target!.channels[0]!.directedReceives) return; // Weft sorts them
    const inbox = target!.allocate(64);
    const outbox = two!.allocate(64);
    const received = expect(target!.channel(1).recv(inbox.slice())).rejects.toMatchObject({
      code: 'FABRIC_FAULT',
      message: expect.stringMatching(/from rank 2 matched the receive for rank 1/),
    });
    await two!.channel(0).send(outbox.slice());
    await received;
  });

  test.each([1, 2, 3])('completions late and out of order lose nothing (seed %i)', async (seed) => {
    const cell = 2 * KiB;
    const count = 200;
    await using link = await connectPair({ provider }, count * cell, 2);
    for (const fabric of link.fabrics) shuffle(fabric, seed, 0.5);
    const random = seededRandom(seed);
    const places = Array.from({ length: count }, (_, i) => ({
      offset: i * cell,
      bytes: Math.floor(random() * cell),
      channel: Math.floor(random() * 2),
      immediate: Math.floor(random() * 4),
    }));
    expect(await wrongAfterWrites(link, places, seed)).toBe(0);
  });

  // efa-direct promises no order between messages.
  const ordered = provider !== 'efa-direct';
  test.runIf(ordered)(
    'messages shuffled on their way out of the queue keep their lengths',
    async () => {
      await using link = await connectPair({ provider }, 64 * KiB);
      for (const fabric of link.fabrics) shuffle(fabric, 9, 0.5);
      const lengths = Array.from({ length: 50 }, (_, i) => 20 * i);
      const received = lengths.map((_, i) => link.b.recv(link.target.slice(KiB * i, KiB)));
      for (const bytes of lengths) await link.a.send(link.source.slice(0, bytes));
      expect(await Promise.all(received)).toEqual(lengths);
    },
  );
});
