import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { admit, introduce } from '../../src/world/rendezvous/auth.js';
import { Connection } from '../../src/world/rendezvous/connection.js';
import { encodeFrames, FrameReader } from '../../src/world/rendezvous/frames.js';

const secret = { token: 'a token for tests', jobId: 'a job' };
const open: { close(): unknown }[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});

/** A door that admits whoever proves to know the token, and how it ended for each who came. */
async function door(timeoutMs = 2000) {
  const endings: Promise<string>[] = [];
  const server = createServer((socket) => {
    const connection = new Connection(socket);
    const ending = admit(connection, secret, timeoutMs).then(
      () => 'admitted',
      (error: Error) => error.message,
    );
    endings.push(ending.finally(() => connection.destroy()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push(server);
  return { port: (server.address() as { port: number }).port, endings };
}

async function visit(port: number): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port });
  socket.on('error', () => {});
  open.push({ close: () => socket.destroy() });
  await once(socket, 'connect');
  return socket;
}

describe('the handshake', () => {
  test('that somebody recorded does not admit them', async () => {
    const { port, endings } = await door();
    const honest = await visit(port);
    const sent: Buffer[] = [];
    const write = honest.write.bind(honest);
    honest.write = (bytes: Buffer) => {
      sent.push(bytes);
      return write(bytes);
    };
    await introduce(new Connection(honest), secret, 2000);
    const thief = await visit(port);
    thief.write(Buffer.concat(sent));
    await once(thief.resume(), 'close');
    expect(sent).toHaveLength(1);
    expect(await Promise.all(endings)).toEqual(['admitted', 'its token is wrong']);
  });

  test('does not let rank 0 prove itself to itself', async () => {
    const { port, endings } = await door();
    // Its own hello and proof, sent back: each side signs its role.
    const [one, two] = [await visit(port), await visit(port)];
    const hello = new FrameReader();
    hello.push((await once(one, 'data'))[0]);
    const { nonce } = hello.next()!.message as { nonce: string };
    two.write(encodeFrames({ job: '0'.repeat(16), nonce, mac: nonce }));
    await once(two.resume(), 'close');
    expect(await endings[1]).toBe('it belongs to another job');
  });

  test('ends at its deadline, however slowly bytes come', async () => {
    const { port, endings } = await door(300);
    const slow = await visit(port);
    slow.resume();
    const frame = encodeFrames({ job: '0'.repeat(16), nonce: '0'.repeat(64), mac: '0'.repeat(64) });
    let at = 0;
    // At this pace the whole frame would take four times the deadline.
    const drip = setInterval(() => slow.write(frame.subarray(at, ++at)), 1200 / frame.length);
    // A byte on its way when the door closes resets the connection.
    await new Promise((resolve) => slow.once('close', resolve));
    clearInterval(drip);
    expect(at).toBeLessThan(frame.length);
    expect(await endings[0]).toMatch(/no answer within 0\.3 s/);
  });
});
