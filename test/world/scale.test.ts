import { afterEach, expect, test, vi } from 'vitest';
import type { World } from '../../src/world/index.js';
import { Connection } from '../../src/world/rendezvous/connection.js';
import { Roster } from '../../src/world/rendezvous/roster.js';
import { openRanks } from './ranks-in-process.js';

const { sendEncoded } = Connection.prototype;
const { seat } = Roster.prototype;

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

/** Messages that all ranks and rank 0's server send, and bytes that rank 0's server sends, by operation. */
async function trafficOf(
  size: number,
): Promise<Record<string, { messages: number; bytes: number }>> {
  let [messages, bytes] = [0, 0];
  const ofRankZero = new Set<Connection>();
  vi.spyOn(Roster.prototype, 'seat').mockImplementation(function (this: Roster, ...args) {
    ofRankZero.add(args[1]);
    return seat.apply(this, args);
  });
  vi.spyOn(Connection.prototype, 'sendEncoded').mockImplementation(function (
    this: Connection,
    frames,
  ) {
    messages += messagesIn(frames);
    if (ofRankZero.has(this)) bytes += frames.length;
    sendEncoded.call(this, frames);
  });
  // Beats would be counted too.
  await using ranks = await openRanks(size, { heartbeatMs: 600_000, timeoutMs: 60_000, fanOut: 4 });
  const counts: Awaited<ReturnType<typeof trafficOf>> = { join: { messages, bytes } };
  const during = async (name: string, work: (world: World) => Promise<unknown>) => {
    const before = { messages, bytes };
    await Promise.all(ranks.worlds.map(work));
    counts[name] = { messages: messages - before.messages, bytes: bytes - before.bytes };
  };
  const block = new Uint8Array(4096);
  await during('allgather', (world) => world.allgather('a', block));
  await during('barrier', (world) => world.barrier('b'));
  await during('gather', (world) => world.gather('g', new Float64Array(200)));
  await during('broadcast', (world) => world.broadcast('c', block));
  return counts;
}

// With few ranks, a larger share is next to rank 0 and needs fewer messages: hence more than the usual tolerance.
test('messages, and the bytes of rank 0, grow with the number of ranks', async () => {
  const [few, many] = [await trafficOf(32), await trafficOf(128)];
  for (const [name, { messages, bytes }] of Object.entries(many)) {
    expect(messages / 128, name).toBeLessThanOrEqual(1.15 * (few[name]!.messages / 32));
    expect(bytes / 128, name).toBeLessThanOrEqual(1.15 * (few[name]!.bytes / 32));
  }
}, 60_000);
