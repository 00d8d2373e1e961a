import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { isWeftError } from '../../../src/errors.js';
import { version } from '../../../src/world/process-facts.js';
import { admit, type DoorName, introduce, Refusal } from '../../../src/world/rendezvous/auth.js';
import { RendezvousClient } from '../../../src/world/rendezvous/client.js';
import { Connection } from '../../../src/world/rendezvous/connection.js';
import { encodeFrames } from '../../../src/world/rendezvous/frames.js';
import { knock } from '../../../src/world/rendezvous/reach.js';
import { Relay } from '../../../src/world/rendezvous/relay.js';
import { RendezvousServer } from '../../../src/world/rendezvous/server.js';
import type { Target } from '../target.js';
import { brokenFrames, messages } from './frames.js';

const secret = { token: 'a token for tests', jobId: 'a job' };
const timing = { timeoutMs: 20_000, heartbeatMs: 1000, silenceMs: 10_000 };
const meeting = { listenHosts: ['127.0.0.1'], connectHosts: [], ports: [0], listenFd: undefined };
const member = (rank: number) => ({
  ...{ rank, host: 'h', bootId: 'b', netns: 'n', pid: 7, localRank: rank },
});
/** The smallest world with a relay: rank 1, for rank 2. */
const size = 3;
const fanOut = 1;
const members = Array.from({ length: size }, (_, rank) => member(rank));
const linkMs = { connectMs: 1000, helloMs: 1000 };

const openServer = () =>
  RendezvousServer.open({ size, fanOut, secret, meeting, expectedHosts: undefined, ...timing });

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

/** Listens, and does this with everyone who comes. */
async function listening(meet: (socket: Socket) => unknown) {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    void meet(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return { port, [Symbol.dispose]: () => void server.close() };
}

/** One for all strangers: none of them may end it. */
let shared: RendezvousServer;
let relay: Relay;

async function stranger(bytes: Buffer): Promise<void> {
  await send(await reached(shared.address.port), bytes);
}

async function strangerAtRelay(bytes: Buffer): Promise<void> {
  await send(await reached(relay.offer!.port), bytes);
}

/** Somebody who knows the token, at the door of a relay. */
async function childOfRelay(bytes: Buffer): Promise<void> {
  const socket = await reached(relay.offer!.port);
  await introduce(new Connection(socket), secret, 1000, 'relay 1');
  const op = 'allgather "a" 0';
  const passed = { t: 'done', op, all: true } as const;
  const gone = send(socket, bytes);
  relay.pass(passed, Buffer.from(JSON.stringify(passed)));
  await gone;
}

/** Somebody who knows the token, joins, gets by a relay what all ranks get, and then says anything. */
async function rank(bytes: Buffer): Promise<void> {
  const server = await openServer();
  const sockets: Socket[] = [];
  try {
    for (const who of members) {
      const socket = await reached(server.address.port);
      sockets.push(socket);
      const connection = new Connection(socket);
      await introduce(connection, secret, 1000);
      const offer = who.rank === 1 ? { relay: { port: 9 } } : {};
      connection.send({ t: 'join', size, version, member: who, ...offer });
      if (who.rank === 2) connection.send({ t: 'relayed' });
      const collect = { t: 'collect', kind: 'allgather', name: 'a', turn: 0, timeoutMs: 1000 };
      connection.send({ ...collect, value: 1 });
    }
    await send(sockets[2]!, bytes);
  } finally {
    for (const socket of sockets) socket.destroy();
    await server.close(0);
  }
}

async function joinAndCollect(who: 1 | 2, port: number): Promise<void> {
  const place = { hosts: ['127.0.0.1'], ports: [port], size, fanOut };
  let client: RendezvousClient | undefined;
  try {
    client = await RendezvousClient.join({ ...place, secret, member: member(who), ...timing });
    await client.collect('allgather', 'a', 1, { timeoutMs: 2000 });
  } finally {
    await client?.close();
  }
}

/** Lets somebody in as this door would. */
async function admitted(socket: Socket, door: DoorName): Promise<Connection> {
  const connection = new Connection(socket);
  await admit(connection, secret, 1000, door).catch(() => {});
  return connection;
}

/** A rank 0 that knows the token and then says anything, to the relay. */
async function rankZero(bytes: Buffer): Promise<void> {
  using server = await listening(async (socket) => {
    const connection = await admitted(socket, 'rank 0');
    connection.send({ t: 'welcome', members });
    await send(socket, bytes);
  });
  await joinAndCollect(1, server.port);
}

/** A relay that knows the token and then says anything to the rank below it. */
async function relayAbove(bytes: Buffer): Promise<void> {
  let toRank: Socket | undefined;
  using above = await listening(async (socket) => {
    const connection = await admitted(socket, 'relay 1');
    await connection.receive(1000).catch(() => {});
    connection.send({ t: 'linked' });
    connection.send({ t: 'welcome', members });
    await send(socket, bytes);
    toRank?.end();
  });
  using server = await listening(async (socket) => {
    toRank = socket;
    const connection = await admitted(socket, 'rank 0');
    connection.send({ t: 'parent', rank: 1, port: above.port });
    socket.resume();
  });
  await joinAndCollect(2, server.port);
}

/** Somebody in the place of rank 0 who does not know the token. */
const falseRankZero = (greeting: Buffer) => async (bytes: Buffer) => {
  using server = await listening((socket) => send(socket, Buffer.concat([greeting, bytes])));
  const address = { host: '127.0.0.1', port: server.port, door: 'rank 0' } as const;
  const connection = await knock(address, secret, linkMs);
  connection.destroy();
  throw new Error('a rank took somebody for rank 0 who does not know the token');
};
const [hello] = messages;

const everyone = {
  stranger,
  strangerAtRelay,
  childOfRelay,
  rank,
  rankZero,
  relayAbove,
  falseRankZero: falseRankZero(Buffer.alloc(0)),
  falseRankZeroAfterHello: falseRankZero(encodeFrames(hello)),
};
const names = Object.keys(everyone) as (keyof typeof everyone)[];

/** Real sockets: strangers, and ranks, relays and rank 0 with and without the token. */
export const rendezvous: Target = {
  name: 'rendezvous',
  share: 40,
  open: async () => {
    shared = await openServer();
    const options = { rank: 1, children: [2], secret, listenHosts: ['127.0.0.1'] };
    relay = await Relay.open(options, { local: '127.0.0.1' } as Connection);
    return async () => {
      // They still know a rank when they see one.
      await introduce(new Connection(await reached(shared.address.port)), secret, 5000);
      const child = new Connection(await reached(relay.offer!.port));
      await introduce(child, secret, 5000, 'relay 1');
      child.send({ t: 'link', rank: 2 });
      await child.receive(5000);
      await Promise.all([shared.close(0), relay.close()]);
    };
  },
  make: (dice) => {
    const name = dice.pick(names);
    const bytes = brokenFrames(dice, name.startsWith('false') ? messages.slice(0, 3) : messages);
    return {
      shown: Buffer.concat([Buffer.from(`${name}\n`), bytes]),
      run: () => everyone[name](bytes),
      isRefusal: (error) => isWeftError(error) || error instanceof Refusal,
    };
  },
};
