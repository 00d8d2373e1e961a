import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fabric } from '../fabric/fabric.js';
import { listNics } from '../fabric/nics.js';
import { firstRanks } from '../world/same-host.js';
import type { World } from '../world/world.js';
import type { Gap, GapCause } from './probe.js';

/** Where a host answers on a rail. */
interface Answering {
  readonly address: string;
  readonly port: number;
}

/** More than a jumbo frame, so that TCP sends full frames. */
const largeBytes = 32 * 1024;
const small = Buffer.alloc(1);
/** One retransmission of a lost first packet comes after 1 s. */
const answerMs = 1500;
const confirmMs = 400;
/** Up to this number of hosts all pairs; beyond it the hosts at distance 1, 2, 4, … from each. */
const fewHosts = 16;

/**
 * Connects the hosts by plain TCP on every rail of a fabric over sockets, within 2 s: what does not pass, and why. It
 * tells a firewall from a dead link and from frames that are too large, which look alike to libfabric. What it cannot
 * explain is not in the answer. The same on every rank.
 */
export async function probeSockets(world: World, fabric: Fabric): Promise<Gap[]> {
  world.note('connecting the hosts on every rail');
  const firsts = firstRanks(world);
  const speaks = firsts.includes(world.rank);
  const answers = speaks ? await Promise.all(fabric.channels.map(({ nic }) => answerOn(nic))) : [];
  try {
    const everyones = await world.allgather(
      'rail addresses',
      answers.map((one) => one?.at ?? null),
    );
    const gaps = speaks ? await probeAll(world, firsts, everyones) : [];
    return (await world.allgather('rails that do not connect', gaps)).flat();
  } finally {
    for (const one of answers) one?.close();
  }
}

async function probeAll(
  { rank }: World,
  firsts: readonly number[],
  everyones: readonly (readonly (Answering | null)[])[],
): Promise<Gap[]> {
  const pairs = peersOf(firsts, rank).flatMap((peer) =>
    everyones[peer]!.map((there, rail) => ({ peer, rail, here: everyones[rank]![rail], there })),
  );
  const found = await Promise.all(
    pairs.map(async ({ peer, rail, here, there }): Promise<Gap[]> => {
      if (!here || !there) return [];
      const cause = await probePair(here.address, there);
      return cause ? [{ rail, from: rank, to: peer, cause }] : [];
    }),
  );
  return found.flat();
}

export function peersOf(firsts: readonly number[], rank: number): number[] {
  const at = firsts.indexOf(rank);
  const distances = Array.from({ length: firsts.length - 1 }, (_, i) => i + 1).filter(
    (distance) => firsts.length <= fewHosts || Number.isInteger(Math.log2(distance)),
  );
  return distances.map((distance) => firsts[(at + distance) % firsts.length]!);
}

/** Answers a byte with a byte, and `largeBytes` after it with another. */
async function answerOn(nic: string): Promise<{ at: Answering; close(): void } | undefined> {
  const address = listNics().find(({ name }) => name === nic)?.addresses[0];
  if (address === undefined) return undefined;
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    let heard = 0;
    socket.on('data', (bytes) => {
      if (heard === 0) socket.write(small);
      const before = heard;
      heard += bytes.length;
      if (before <= largeBytes && heard > largeBytes) socket.write(small);
    });
    socket.on('error', () => {});
  });
  const port = await listenOn(server, address);
  if (port === undefined) return undefined;
  const close = () => {
    for (const socket of open) socket.destroy();
    server.close();
  };
  return { at: { address, port }, close };
}

/** On a port that libfabric could use, too: a firewall may be open for those alone. */
async function listenOn(server: Server, address: string): Promise<number | undefined> {
  const [low = 0, high = low] = ['LOW', 'HIGH'].map((end) =>
    Number(process.env[`FI_TCP_PORT_${end}_RANGE`] ?? 0),
  );
  for (let port = low; port <= Math.max(low, high); port++) {
    const listening = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen({ port, host: address }, () => resolve(true));
    });
    if (listening) return (server.address() as AddressInfo).port;
  }
  return undefined;
}

/** Why bytes of this host do not come to the other; undefined where they do, or where it cannot be said. */
async function probePair(from: string, to: Answering): Promise<GapCause | undefined> {
  const socket = connect({ host: to.address, port: to.port, localAddress: from });
  let heard = 0;
  let fault: string | undefined;
  const ended = new Promise<void>((resolve) => {
    socket.on('data', (bytes) => {
      heard += bytes.length;
      if (heard >= 2) resolve();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      fault = error.code;
      resolve();
    });
  });
  let connected = false;
  socket.on('connect', () => {
    connected = true;
    socket.write(small);
    socket.write(Buffer.alloc(largeBytes));
  });
  try {
    await Promise.race([ended, patiently(answerMs)]);
    if (heard >= 2) return undefined;
    if (fault === 'ECONNREFUSED') return 'rejected';
    if (!connected) return neighbours[arpState(to.address) ?? ''];
    // The peer may be slow to answer; where it answers a newcomer, only the large frames are missing.
    if (heard === 1 && (await answersSmall(from, to)) && heard === 1) return 'frame-size';
    return undefined;
  } finally {
    socket.destroy();
  }
}

/** A process that was held up sees its timers before what has arrived: it gets a moment to read. */
async function patiently(ms: number): Promise<void> {
  // The sockets keep the process alive as long as somebody waits.
  await sleep(ms, undefined, { ref: false });
  await sleep(20, undefined, { ref: false });
}

async function answersSmall(from: string, to: Answering): Promise<boolean> {
  const socket = connect({ host: to.address, port: to.port, localAddress: from });
  try {
    const answered = new Promise<boolean>((resolve) => {
      socket.once('connect', () => socket.write(small));
      socket.once('data', () => resolve(true));
      socket.once('error', () => resolve(false));
    });
    return await Promise.race([answered, patiently(confirmMs).then(() => false)]);
  } finally {
    socket.destroy();
  }
}

/** What it means that a host does not answer, by its entry in the table of neighbours; across a router it has none. */
const neighbours: Record<string, GapCause> = { '0x0': 'no-neighbour', '0x2': 'filtered' };

/** `0x2` where the neighbour told its link address, `0x0` where it was asked in vain. */
function arpState(address: string): string | undefined {
  const lines = readFileSync('/proc/net/arp', 'utf8').split('\n');
  return lines.find((one) => one.startsWith(`${address} `))?.split(/\s+/)[2];
}
