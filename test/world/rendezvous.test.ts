import { describe, expect, test } from 'vitest';
import { openWorld } from '../../src/world/index.js';
import { aborted, freePort, joinRank, openRanks } from './ranks-in-process.js';

describe('exchange', () => {
  test('allgather, gather, broadcast, barrier', async () => {
    await using ranks = await openRanks(4);
    const results = await Promise.all(
      ranks.worlds.map(async (world) => {
        await world.barrier('start');
        return {
          all: await world.allgather('a', new Uint32Array([world.rank])),
          root: await world.gather('g', world.rank),
          said: await world.broadcast('b', world.rank),
        };
      }),
    );
    const all = [0, 1, 2, 3].map((rank) => new Uint32Array([rank]));
    expect(results[0]).toEqual({ all, root: [0, 1, 2, 3], said: 0 });
    expect(results[3]).toEqual({ all, root: undefined, said: 0 });
  });

  test('the n-th calls of a name belong together, however far ranks run ahead', async () => {
    await using ranks = await openRanks(3);
    const rounds = await Promise.all(
      ranks.worlds.map((world) =>
        Promise.all(
          Array.from({ length: 50 }, (_, i) => world.allgather('x', i * 10 + world.rank)),
        ),
      ),
    );
    for (const mine of rounds) {
      expect(mine).toEqual(Array.from({ length: 50 }, (_, i) => [i * 10, i * 10 + 1, i * 10 + 2]));
    }
  });

  test('values of several megabytes', async () => {
    await using ranks = await openRanks(2);
    const samples = new Float64Array(500_000).map((_, i) => i);
    const [gathered] = await Promise.all(ranks.worlds.map((world) => world.gather('s', samples)));
    expect(Buffer.compare(Buffer.from(gathered![1]!.buffer), Buffer.from(samples.buffer))).toBe(0);
  });

  test('a value too large to exchange is refused, and the world lives on', async () => {
    await using ranks = await openRanks(2);
    const [a, b] = ranks.worlds;
    await expect(a!.broadcast('big', new Uint8Array(60 << 20))).rejects.toThrowError(RangeError);
    await Promise.all([a!.barrier('x'), b!.barrier('x')]);
  });

  test('misuse is a TypeError and harms nobody', async () => {
    await using ranks = await openRanks(1);
    const [world] = ranks.worlds;
    await expect(world!.barrier('x'.repeat(300))).rejects.toThrowError(TypeError);
    await expect(world!.barrier('x', { timeoutMs: Number.NaN })).rejects.toThrowError(TypeError);
    await expect(world!.broadcast('f', () => 1)).rejects.toThrowError(TypeError);
    await world!.barrier('x', { timeoutMs: Number.POSITIVE_INFINITY });
  });

  test('members tell host, boot, network namespace and pid', async () => {
    await using ranks = await openRanks(2);
    const [first, second] = ranks.worlds[1]!.members;
    expect(second).toMatchObject({ rank: 1, localRank: 1, pid: process.pid, host: first!.host });
    expect(first!.bootId).toMatch(/^[0-9a-f-]{36}$/);
    expect(first!.netns).toMatch(/^net:\[\d+\]$/);
  });

  test('a world of one needs no launcher', async () => {
    await using world = await openWorld({ env: {} });
    expect(world).toMatchObject({ rank: 0, size: 1, launcher: 'single', authenticated: true });
    expect(await world.allgather('a', 'b')).toEqual(['b']);
  });

  test('IPv6', async () => {
    await using ranks = await openRanks(2, { host: '::1' });
    await Promise.all(ranks.worlds.map((world) => world.barrier('six')));
  });
});

describe('what takes long', () => {
  test('is heard by rank 0 when a rank says it, and only then', async () => {
    await using ranks = await openRanks(2);
    const [a, b] = ranks.worlds;
    const heard: [number, string][] = [];
    a!.hear((rank, text) => heard.push([rank, text]));
    b!.hear(() => expect.fail('rank 1 hears nothing'));
    b!.note('quiet');
    b!.say('preparing buffers, 12G of 64G');
    a!.say('ready');
    await Promise.all(ranks.worlds.map((world) => world.barrier('x')));
    expect(heard.sort()).toEqual([
      [0, 'ready'],
      [1, 'preparing buffers, 12G of 64G'],
    ]);
  });
});

describe('deadlines', () => {
  test('a barrier names who is missing, where, and what they did last', async () => {
    await using ranks = await openRanks(3);
    const [a, b, c] = ranks.worlds;
    await Promise.all(ranks.worlds.map((world) => world.barrier('before')));
    c!.note('measured 4 MiB');
    const late = await Promise.all(
      [a!, b!].map((world) => world.barrier('x', { timeoutMs: 200 }).catch((error) => error)),
    );
    for (const error of late) {
      expect(error).toMatchObject({ code: 'TIMEOUT' });
      expect(error.message).toMatch(
        /barrier "x" timed out after 0.2 s; missing: rank 2 on host \S+ \(pid \d+\): last step: measured 4 MiB/,
      );
    }
    expect(a!.signal.aborted).toBe(false);
  });

  test('who waits for another is not the one who is missing', async () => {
    await using ranks = await openRanks(3);
    const [a, b] = ranks.worlds;
    const gathered = a!.gather('counts', 1, { timeoutMs: 1000 }).catch(() => undefined);
    await b!.gather('counts', 1);
    const late = /broadcast "\w+" timed out after 0.2 s; missing: rank 2 on host/;
    await expect(b!.broadcast('next', 1, { timeoutMs: 200 })).rejects.toThrow(late);
    // Nor is one that has given up on another.
    await gathered;
    await expect(b!.broadcast('last', 1, { timeoutMs: 200 })).rejects.toThrow(late);
  });

  test('two ranks that wait for each other name each other', async () => {
    await using ranks = await openRanks(2);
    const [a, b] = ranks.worlds;
    const late = [a!.barrier('x', { timeoutMs: 200 }), b!.barrier('y', { timeoutMs: 200 })];
    const errors = await Promise.all(late.map((one) => one.catch((error) => error.message)));
    expect(errors[0]).toMatch(/missing: rank 1 /);
    expect(errors[1]).toMatch(/missing: rank 0 /);
  });

  test('a deadline after 24.8 days, where timers of JavaScript end, is not now', async () => {
    await using ranks = await openRanks(2, { timeoutMs: 2 ** 31 });
    const [a, b] = ranks.worlds;
    const waiting = a!.barrier('x');
    await new Promise((resolve) => setTimeout(resolve, 20));
    await Promise.all([waiting, b!.barrier('x')]);
  });

  test('ranks that never join are named', async () => {
    const place = { port: await freePort(), size: 4 };
    const joining = [0, 2].map((rank) => joinRank(rank, place, { timeoutMs: 400 }));
    for (const outcome of await Promise.allSettled(joining)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'TIMEOUT' } });
      expect(String((outcome as PromiseRejectedResult).reason)).toMatch(
        /2 of 4 ranks joined.*missing: rank 1: never joined; rank 3: never joined/,
      );
    }
  });

  test('a rank that finds no rank 0 says where it looked', async () => {
    const place = { port: await freePort(), size: 2 };
    await expect(joinRank(1, place, { timeoutMs: 300 })).rejects.toThrowError(
      expect.objectContaining({
        code: 'RENDEZVOUS_FAILED',
        message: expect.stringMatching(/127\.0\.0\.1:\d+: .*ECONNREFUSED/),
      }),
    );
  });

  test('the caller may give up', async () => {
    await using ranks = await openRanks(2);
    const reason = new Error('enough');
    const waiting = ranks.worlds[0]!.barrier('x', { signal: AbortSignal.abort(reason) });
    await expect(waiting).rejects.toBe(reason);
    const controller = new AbortController();
    const later = ranks.worlds[0]!.barrier('never', { signal: controller.signal });
    controller.abort(reason);
    await expect(later).rejects.toBe(reason);
  });

  test('joining may be given up', async () => {
    const place = { port: await freePort(), size: 2 };
    const signal = AbortSignal.timeout(100);
    await expect(joinRank(0, place, { signal })).rejects.toMatchObject({ code: 'ABORTED' });
  });
});

describe('the end', () => {
  test('a rank that fails is named to all, and their operations reject', async () => {
    await using ranks = await openRanks(3);
    const [a, b, c] = ranks.worlds;
    const waiting = a!.barrier('x').catch((error) => error);
    await c!.fail(new Error('no such NIC'));
    await b!.fail(new Error('a consequence'));
    for (const error of [await waiting, await aborted(b!.signal), await aborted(c!.signal)]) {
      expect(error).toMatchObject({ code: 'ABORTED' });
      expect(error.message).toMatch(/rank 2 on host \S+ \(pid \d+\) failed: no such NIC/);
    }
    await expect(b!.barrier('y')).rejects.toMatchObject({ code: 'ABORTED' });
  });

  test('of what a rank tells, the first counts: the rest may follow from it', async () => {
    await using ranks = await openRanks(2);
    const [a, b] = ranks.worlds;
    const told = new Error('rank 0 was stopped');
    const both = [a!.fail(told), a!.fail(new Error('a peer has left'))];
    expect(await Promise.all(both)).toEqual([told, told]);
    expect(await a!.fail(new Error('another peer has left'))).toBe(told);
    expect((await aborted(b!.signal)).message).toMatch(/failed: rank 0 was stopped$/);
  });

  test('closing first is no failure, whoever it is', async () => {
    const ranks = await openRanks(3);
    const [a, b, c] = ranks.worlds;
    await c!.close();
    const root = a!.close();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(b!.signal.aborted).toBe(false);
    await b!.close();
    await root;
    expect(b!.signal.aborted).toBe(false);
    await b!.close();
  });

  test('whoever waits for a rank that left is told at once', async () => {
    await using ranks = await openRanks(2);
    const waiting = ranks.worlds[0]!.barrier('x').catch((error) => error);
    await ranks.worlds[1]!.close();
    expect(await waiting).toMatchObject({ code: 'PEER_LOST' });
    await expect(ranks.worlds[0]!.barrier('y')).rejects.toThrowError(
      /rank 1 on host .*then closed/,
    );
  });

  test('rank 0 does not wait for ever for those who stay', async () => {
    const ranks = await openRanks(2, { timeoutMs: 300 });
    const [a, b] = ranks.worlds;
    await a!.close();
    await expect(b!.barrier('x')).rejects.toMatchObject({ code: 'CLOSED' });
    expect(b!.signal.aborted).toBe(false);
    await b!.close();
  });

  test('after closing, operations reject', async () => {
    const ranks = await openRanks(2);
    const [root, world] = ranks.worlds;
    const open = world!.barrier('k').catch((error) => error);
    await world!.close();
    expect(await open).toMatchObject({ code: 'CLOSED' });
    await root!.close();
    await expect(world!.barrier('x')).rejects.toMatchObject({ code: 'CLOSED' });
  });
});
