import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { World } from '../../src/world/index.js';
import { introduce } from '../../src/world/rendezvous/auth.js';
import { Connection } from '../../src/world/rendezvous/connection.js';
import { encodeFrames } from '../../src/world/rendezvous/frames.js';
import { Relay } from '../../src/world/rendezvous/relay.js';
import { Roster } from '../../src/world/rendezvous/roster.js';
import { aborted, freePort, joinRank, openRanks } from './ranks-in-process.js';

const { open } = Relay;
const { send, sendEncoded } = Connection.prototype;
type Message = { t?: string; op?: string };

/** By rank: its relay and its line to rank 0. */
const relays = new Map<number, { relay: Relay; toRankZero: Connection }>();
/** The relays' ends of all links. */
let links: Connection[] = [];

beforeEach(() => {
  relays.clear();
  links = [];
  vi.spyOn(Relay, 'open').mockImplementation(async (options, toRankZero) => {
    const relay = await open.call(Relay, options, toRankZero);
    relays.set(options.rank, { relay, toRankZero });
    return relay;
  });
  onSend(() => true);
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** Messages for which `passes` is false are never sent. */
function onSend(passes: (connection: Connection, message: Message) => boolean): void {
  vi.spyOn(Connection.prototype, 'send').mockImplementation(function (this: Connection, message) {
    if ((message as Message).t === 'linked') links.push(this);
    if (passes(this, message as Message)) send.call(this, message);
  });
}

const offers = () => [...relays].filter(([, { relay }]) => relay.offer !== undefined);
const ports = () => offers().map(([rank]) => rank);
const ownValue = (rank: number) => ({ rank, text: `${rank}`.repeat(rank === 3 ? 600_000 : 20) });

async function exchange(worlds: readonly World[], name = 'a', timeoutMs = 20_000): Promise<void> {
  const expected = worlds.map((_, rank) => ownValue(rank));
  const got = await Promise.all(
    worlds.map((world) => world.allgather(name, ownValue(world.rank), { timeoutMs })),
  );
  for (const values of got) expect(values).toEqual(expected);
}

/** Levels 0 | 1 2 | 3 to 6 | 7 to 14. */
const threeLevels = { fanOut: 2, timeoutMs: 20_000 };

describe('a tree of relays', () => {
  test('delivers what all ranks get over three levels; rank 0 sends it to its own children', async () => {
    const ofRankZero = new Set<Connection>();
    const { seat } = Roster.prototype;
    vi.spyOn(Roster.prototype, 'seat').mockImplementation(function (this: Roster, ...args) {
      ofRankZero.add(args[1]);
      return seat.apply(this, args);
    });
    let large = 0;
    vi.spyOn(Connection.prototype, 'sendEncoded').mockImplementation(function (
      this: Connection,
      frames,
    ) {
      if (ofRankZero.has(this) && frames.length > 100_000) large++;
      sendEncoded.call(this, frames);
    });
    await using ranks = await openRanks(15, threeLevels);
    expect(links).toHaveLength(12);
    await exchange(ranks.worlds);
    await exchange(ranks.worlds);
    expect(large).toBe(2 * 3);
    for (const world of ranks.worlds) expect(world.members).toHaveLength(15);
    expect(ranks.worlds[0]!.warnings).toEqual([]);
  });

  test('is there from 34 ranks on', async () => {
    await using ranks = await openRanks(40, { timeoutMs: 20_000 });
    expect(ports()).toEqual([1]);
    expect(links).toHaveLength(7);
    await exchange(ranks.worlds);
  });

  test('is not there with 33 ranks', async () => {
    await using ranks = await openRanks(33, { timeoutMs: 20_000 });
    expect(ports()).toEqual([]);
    await exchange(ranks.worlds);
  });

  test('closes its ports when the world has formed', async () => {
    await using _ranks = await openRanks(15, threeLevels);
    expect(offers()).toHaveLength(6);
    for (const [, { relay }] of offers()) {
      const reached = await new Promise((resolve) => {
        const socket = connect({ host: '127.0.0.1', port: relay.offer!.port });
        socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
      });
      expect(reached).toBe(false);
    }
  });

  test('refuses strangers and wrong tokens without harm', async () => {
    const place = { port: await freePort(), size: 7, token: 'a token for tests' };
    const first = [0, 1, 2, 3, 4, 5].map((rank) => joinRank(rank, place, threeLevels));
    await expect.poll(() => relays.get(1)?.relay.offer?.port).toBeDefined();
    const port = relays.get(1)!.relay.offer!.port;
    const visit = () => new Connection(connect({ host: '127.0.0.1', port }));
    const wrong = { token: 'another token', jobId: 'another job' };
    await expect(introduce(visit(), wrong, 2000, 'relay 1')).rejects.toThrow('of another job');
    const garbage = visit();
    garbage.sendEncoded(encodeFrames({ t: 'link', rank: 4 }));
    await garbage.receive(2000); // its hello
    await expect(garbage.receive(2000)).rejects.toThrow('closed');
    const worlds = await Promise.all([...first, joinRank(6, place, threeLevels)]);
    await exchange(worlds);
    expect(worlds[0]!.warnings).toEqual([]);
    await Promise.all(worlds.map((world) => world.close()));
  });
});

describe('where a relay does not serve', () => {
  test('a rank that cannot reach it is served by rank 0, which says so', async () => {
    const closed = await freePort();
    vi.spyOn(Relay, 'open').mockImplementation(async (options, toRankZero) => {
      const relay = await open.call(Relay, options, toRankZero);
      if (options.rank === 1) relay.offer = { host: '127.0.0.1', port: closed };
      return relay;
    });
    await using ranks = await openRanks(15, threeLevels);
    await exchange(ranks.worlds);
    const { warnings } = ranks.worlds[0]!;
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/rank [34] .* does not reach its relay, rank 1 .*ECONNREFUSED/);
    expect(warnings[0]).toContain('; 1 more rank has the same problem');
  });

  test('a link that breaks loses nothing', async () => {
    await using ranks = await openRanks(15, threeLevels);
    const heard: string[] = [];
    ranks.worlds[0]!.hear((_, text) => heard.push(text));
    const { relay } = relays.get(1)!;
    // Keeps what it should pass on, and then its links break.
    relay.pass = (reply) => {
      if (reply.t === 'done') for (const link of links) link.destroy();
    };
    await exchange(ranks.worlds);
    await exchange(ranks.worlds, 'again');
    await expect.poll(() => heard).toHaveLength(1);
    expect(heard[0]).toContain('does not reach its relay');
  });

  test('a relay that leaves early loses nothing, and is no surprise', async () => {
    await using ranks = await openRanks(15, threeLevels);
    await Promise.all(
      ranks.worlds.map(async (world) => {
        const values = await world.allgather('a', ownValue(world.rank));
        if (world.rank === 1) await world.close();
        expect(values).toHaveLength(15);
        await world.gather('b', 1, { timeoutMs: 500 }).catch(() => {});
      }),
    );
    expect(ranks.worlds[0]!.warnings).toEqual([]);
    expect(ranks.worlds[7]!.signal.aborted).toBe(false);
  });

  test('a relay that is lost is named, and no link', async () => {
    await using ranks = await openRanks(15, threeLevels);
    for (const link of links) link.destroy();
    relays.get(1)!.toRankZero.destroy();
    for (const world of [ranks.worlds[0]!, ranks.worlds[3]!, ranks.worlds[14]!]) {
      expect((await aborted(world.signal)).message).toMatch(/^rank 1 on host .* was lost/);
    }
    expect(ranks.worlds[0]!.warnings).toEqual([]);
  });

  test.each([1, 3])(
    'rank %i, which passes nothing on, is named at the deadline',
    async (stopped) => {
      await using ranks = await openRanks(15, threeLevels);
      const { relay, toRankZero } = relays.get(stopped)!;
      relay.pass = () => {};
      onSend((connection, { t }) => connection !== toRankZero || t !== 'got');
      const below = ranks.worlds.filter(({ rank }) => {
        const parents = [
          Math.floor((rank - 1) / 2),
          Math.floor((Math.floor((rank - 1) / 2) - 1) / 2),
        ];
        return parents.includes(stopped);
      });
      const results = await Promise.allSettled(
        ranks.worlds.map((world) => world.allgather('a', 1, { timeoutMs: 1500 })),
      );
      for (const { rank } of below) {
        const result = results[rank]!;
        const why = result.status === 'rejected' ? String(result.reason) : 'nothing';
        expect(why).toMatch(new RegExp(`timed out.*missing: rank ${stopped} `));
        expect(why).not.toMatch(/missing:.*; rank/);
      }
      expect(below.length).toBeGreaterThan(1);
      expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(below.length);
    },
  );
});
