import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { admit, introduce, protocolVersion } from '../../src/world/rendezvous/auth.js';
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

/** What goes over a connection from now on. */
function overhear(socket: Socket) {
  const sent: Buffer[] = [];
  const heard: Buffer[] = [];
  const write = socket.write.bind(socket);
  socket.write = (bytes: Buffer) => {
    sent.push(bytes);
    return write(bytes);
  };
  socket.on('data', (bytes) => heard.push(bytes));
  return { sent, heard };
}

function messagesOf(bytes: readonly Buffer[]): Record<string, string>[] {
  const reader = new FrameReader();
  reader.push(Buffer.concat(bytes));
  const next = () => reader.next()?.message as Record<string, string> | undefined;
  const messages: Record<string, string>[] = [];
  for (let one = next(); one !== undefined; one = next()) messages.push(one);
  return messages;
}

describe('the handshake', () => {
  test('that somebody recorded does not admit them', async () => {
    const { port, endings } = await door();
    const honest = await visit(port);
    const { sent } = overhear(honest);
    await introduce(new Connection(honest), secret, 2000);
    const thief = await visit(port);
    thief.write(Buffer.concat(sent));
    await once(thief.resume(), 'close');
    expect(sent).toHaveLength(1);
    expect(await Promise.all(endings)).toEqual(['admitted', 'its token is wrong']);
  });

  test('does not take what rank 0 said in another one for a proof', async () => {
    const { port, endings } = await door();
    const honest = await visit(port);
    const { sent, heard } = overhear(honest);
    await introduce(new Connection(honest), secret, 2000);
    const thief = await visit(port);
    const [[proof], [, verdict]] = [messagesOf(sent), messagesOf(heard)];
    thief.write(encodeFrames({ ...proof, mac: verdict!.accepted }));
    await once(thief.resume(), 'close');
    expect(await Promise.all(endings)).toEqual(['admitted', 'its token is wrong']);
  });

  test('refuses a proof of as many characters and more bytes', async () => {
    const { port, endings } = await door();
    const stranger = await visit(port);
    const { sent } = overhear(stranger);
    await introduce(new Connection(stranger), secret, 2000);
    const liar = await visit(port);
    liar.write(encodeFrames({ ...messagesOf(sent)[0], mac: 'é'.repeat(64) }));
    await once(liar.resume(), 'close');
    expect(await Promise.all(endings)).toEqual(['admitted', 'its token is wrong']);
  });

  test('refuses a rank 0 whose proof has as many characters and more bytes', async () => {
    const server = createServer((socket) => {
      const impostor = new Connection(socket);
      impostor.send({ weft: protocolVersion, nonce: '0'.repeat(64) });
      void impostor.receive(2000).then(() => impostor.send({ accepted: 'é'.repeat(64) }));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    open.push(server);
    const rank = new Connection(await visit((server.address() as { port: number }).port));
    await expect(introduce(rank, secret, 2000)).rejects.toThrow('it does not know the token');
  });

  test('for one door does not open another', async () => {
    const { port, endings } = await door();
    const rank = new Connection(await visit(port));
    await expect(introduce(rank, secret, 2000, 'relay 5')).rejects.toThrow('token');
    expect(await Promise.all(endings)).toEqual(['its token is wrong']);
  });

  test('does not let a rank prove to itself that it met rank 0', async () => {
    const server = createServer((socket) => {
      const impostor = new Connection(socket);
      impostor.send({ weft: protocolVersion, nonce: '0'.repeat(64) });
      // The rank's own proof, sent back: each side signs its role.
      const reflect = (proof: unknown) =>
        impostor.send({ accepted: (proof as { mac: string }).mac });
      void impostor.receive(2000).then(reflect);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    open.push(server);
    const rank = new Connection(await visit((server.address() as { port: number }).port));
    await expect(introduce(rank, secret, 2000)).rejects.toThrow('it does not know the token');
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
