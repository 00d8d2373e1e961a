import { afterEach, expect, test, vi } from 'vitest';
import type { World } from '../../src/world/index.js';
import { Connection } from '../../src/world/rendezvous/connection.js';
import { openRanks } from './ranks-in-process.js';

const { sendEncoded } = Connection.prototype;

afterEach(() => {
  vi.restoreAllMocks();
});

/** The top bit of a frame's length says that its message goes on in the next frame. */
function messagesIn(frames: Buffer): number {
  let messages = 0;
  for (let at = 0; at < frames.length; ) {
    const header = frames.readUInt32BE(at);
    if (header < 0x8000_0000) messages++;
    at += 4 + (header % 0x8000_0000);
  }
  return messages;
}

/** Messages that all ranks and rank 0's server send, by operation. */
async function messagesOf(size: number): Promise<Record<string, number>> {
  let sent = 0;
  vi.spyOn(Connection.prototype, 'sendEncoded').mockImplementation(function (
    this: Connection,
    frames,
  ) {
    sent += messagesIn(frames);
    sendEncoded.call(this, frames);
  });
  // Beats would be counted too.
  await using ranks = await openRanks(size, { heartbeatMs: 600_000, timeoutMs: 60_000 });
  const counts: Record<string, number> = { join: sent };
  const during = async (name: string, work: (world: World) => Promise<unknown>) => {
    const before = sent;
    await Promise.all(ranks.worlds.map(work));
    counts[name] = sent - before;
  };
  const block = new Uint8Array(4096);
  await during('allgather', (world) => world.allgather('a', block));
  await during('barrier', (world) => world.barrier('b'));
  await during('gather', (world) => world.gather('g', new Float64Array(200)));
  await during('broadcast', (world) => world.broadcast('c', block));
  return counts;
}

test('messages of every operation grow with the number of ranks', async () => {
  const [few, many] = [await messagesOf(16), await messagesOf(128)];
  for (const [name, count] of Object.entries(many)) {
    expect(count / 128, name).toBeLessThanOrEqual(1.1 * (few[name]! / 16));
  }
}, 60_000);
