import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { isWeftError } from '../../../src/errors.js';
import { version } from '../../../src/world/process-facts.js';
import { admit, introduce } from '../../../src/world/rendezvous/auth.js';
import { RendezvousClient } from '../../../src/world/rendezvous/client.js';
import { Connection } from '../../../src/world/rendezvous/connection.js';
import { RendezvousServer } from '../../../src/world/rendezvous/server.js';
import type { Target } from '../target.js';
import { brokenFrames, messages } from './frames.js';

const secret = { token: 'a token for tests', jobId: 'a job' };
const timing = { timeoutMs: 20_000, heartbeatMs: 1000, silenceMs: 10_000 };
const meeting = { listenHosts: ['127.0.0.1'], connectHosts: [], ports: [0], listenFd: undefined };
const member = (rank: number) => ({
  ...{ rank, host: 'h', bootId: 'b', netns: 'n', pid: 7, localRank: rank },
});

const openServer = () =>
  RendezvousServer.open({ size: 2, secret, meeting, expectedHosts: undefined, ...timing });

async function reached(port: number): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port });
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

/** Sends bytes and waits until the other side has let go. */
async function send(socket: Socket, bytes: Buffer): Promise<void> {
  socket.resume();
  socket.end(bytes);
  if (!socket.closed) await once(socket, 'close');
}

/** One for all strangers: none of them may end it. */
let shared: RendezvousServer;

async function stranger(bytes: Buffer): Promise<void> {
  await send(await reached(shared.address.port), bytes);
}

/** Somebody who knows the token, joins, and then says anything. */
async function rank(bytes: Buffer): Promise<void> {
  const server = await openServer();
  try {
    const other = await reached(server.address.port);
    const socket = await reached(server.address.port);
    for (const [index, one] of [other, socket].entries()) {
      const connection = new Connection(one);
      await introduce(connection, secret, 1000);
      connection.send({ t: 'join', size: 2, version, member: member(index) });
    }
    await send(socket, bytes);
    other.destroy();
  } finally {
    await server.close(0);
  }
}

/** A rank 0 that knows the token and then says anything. */
async function rankZero(bytes: Buffer): Promise<void> {
  const server = createServer(async (socket) => {
    const connection = new Connection(socket);
    await admit(connection, secret, 1000).catch(() => {});
    connection.send({ t: 'welcome', members: [member(0), member(1)] });
    await send(socket, bytes);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const place = { hosts: ['127.0.0.1'], ports: [port] };
  let client: RendezvousClient | undefined;
  try {
    client = await RendezvousClient.join({
      ...place,
      secret,
      member: member(1),
      size: 2,
      ...timing,
    });
    await client.collect('allgather', 'a', 1, { timeoutMs: 2000 });
  } finally {
    await client?.close();
    server.close();
  }
}

/** Real sockets: strangers, ranks that know the token, and a rank 0 that knows it. */
export const rendezvous: Target = {
  name: 'rendezvous',
  share: 40,
  open: async () => {
    shared = await openServer();
    return async () => {
      // It still knows a rank when it sees one.
      await introduce(new Connection(await reached(shared.address.port)), secret, 5000);
      await shared.close(0);
    };
  },
  make: (dice) => {
    const who = dice.pick([stranger, stranger, rank, rankZero]);
    const bytes = brokenFrames(dice, messages);
    return {
      shown: Buffer.concat([Buffer.from(`${who.name}\n`), bytes]),
      run: () => who(bytes),
      isRefusal: (error) => isWeftError(error),
    };
  },
};
