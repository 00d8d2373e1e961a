import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, test } from 'vitest';
import { protocolVersion, Refusal } from '../../src/world/rendezvous/auth.js';
import { Connection } from '../../src/world/rendezvous/connection.js';
import { encodeFrames } from '../../src/world/rendezvous/frames.js';
import { freePort, joinRank, openRanks } from './ranks-in-process.js';

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

const visit = (port: number, bytes?: Buffer): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port }, () => {
      if (bytes !== undefined) socket.write(bytes);
      resolve(socket);
    });
    sockets.push(socket);
    socket.on('error', reject);
  });

const closed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    socket.resume();
    socket.on('error', () => {});
    socket.on('close', () => resolve());
  });

const listening = (port: number): Promise<void> =>
  expect
    .poll(() =>
      visit(port).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);

const garbage = [
  ['an HTTP request', Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n')],
  ['an oversized frame', Buffer.from([0x7f, 0xff, 0xff, 0xff, 1, 2, 3])],
  ['a frame of the wrong shape', encodeFrames({ t: 'join', size: 3, member: { rank: 1 } })],
  [
    'a proof of nothing',
    encodeFrames({ job: 'x'.repeat(16), nonce: '0'.repeat(64), mac: '0'.repeat(64) }),
  ],
  ['random bytes', Buffer.from(Array.from({ length: 8192 }, (_, i) => (i * 7919) % 251))],
] as const;

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');
/** Of buffers that something still refers to. */
function heldBytes(): number {
  collect();
  collect(); // waits for the thread that frees what the first one found
  return process.memoryUsage().arrayBuffers;
}

describe('strangers at the rendezvous', () => {
  test('garbage while the job forms closes only the connection that brought it', async () => {
    const place = { port: await freePort(), size: 3 };
    const first = joinRank(0, place);
    await listening(place.port); // and leaves a connection half-open
    const gone = await Promise.all(
      garbage.map(async ([, bytes]) => closed(await visit(place.port, bytes))),
    );
    expect(gone).toHaveLength(garbage.length);
    const worlds = await Promise.all([first, joinRank(1, place), joinRank(2, place)]);
    expect(await Promise.all(worlds.map((world) => world.allgather('a', world.rank)))).toEqual(
      Array.from({ length: 3 }, () => [0, 1, 2]),
    );
    await Promise.all(garbage.map(async ([, bytes]) => closed(await visit(place.port, bytes))));
    await Promise.all(worlds.map((world) => world.barrier('still here')));
    await Promise.all(worlds.map((world) => world.close()));
  });

  test('more silent connections than are kept do not shut ranks out', async () => {
    const place = { port: await freePort(), size: 2 };
    const first = joinRank(0, place);
    await listening(place.port);
    await Promise.all(Array.from({ length: 1100 }, () => visit(place.port).catch(() => {})));
    const worlds = await Promise.all([first, joinRank(1, place)]);
    await Promise.all(worlds.map((world) => world.barrier('x')));
    await Promise.all(worlds.map((world) => world.close()));
  });

  test('what a stranger sends after it was refused is not kept', async () => {
    let kept = 0;
    const server = createServer(async (socket) => {
      const connection = new Connection(socket);
      await connection.receive(1000);
      const before = heldBytes();
      const ended = connection.end(500);
      await sleep(300);
      kept = heldBytes() - before;
      await ended;
      server.close();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
    sockets.push(socket);
    socket.write(encodeFrames('nonsense'));
    const gone = closed(socket);
    const flood = Buffer.alloc(2 ** 20);
    for (; !socket.destroyed && socket.writable; await sleep(5)) socket.write(flood);
    await gone;
    expect(socket.bytesWritten).toBeGreaterThan(8 * 2 ** 20);
    expect(kept).toBeLessThan(2 ** 20);
  });

  test('a wrong token is refused at once, and named when ranks are missing', async () => {
    const place = { port: await freePort(), size: 2, token: 'the right token' };
    const first = joinRank(0, place, { timeoutMs: 800 }).catch((error) => error);
    const wrong = joinRank(1, { ...place, token: 'the wrong token' });
    await expect(wrong).rejects.toThrowError(
      expect.objectContaining({
        code: 'RENDEZVOUS_FAILED',
        message: expect.stringMatching(/the token of this rank is wrong/),
        // Not AbsentRanks, which the gate takes for a dead node.
        cause: expect.any(Refusal),
        hint: expect.stringMatching(/WEFT_TOKEN/),
      }),
    );
    expect((await first).message).toMatch(
      /missing: rank 1.*refused a connection from .*token is wrong/,
    );
  });

  test('after a wrong token the right rank still joins', async () => {
    const place = { port: await freePort(), size: 2, token: 'the right token' };
    const first = joinRank(0, place);
    await expect(joinRank(1, { ...place, token: 'the wrong token' })).rejects.toThrowError(/token/);
    const worlds = await Promise.all([first, joinRank(1, place)]);
    expect(worlds[0]?.authenticated).toBe(true);
    await Promise.all(worlds.map((world) => world.close()));
  });
});

describe('a server that is not rank 0 of our job', () => {
  /** Says hello and answers the proof as told. */
  async function impostor(hello: object, answer: object) {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.write(encodeFrames(hello));
      socket.once('data', () => socket.write(encodeFrames(answer)));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    return { port, [Symbol.dispose]: () => void server.close() };
  }
  const hello = { weft: protocolVersion, nonce: '0'.repeat(64) };

  test('must prove that it knows the token', async () => {
    using server = await impostor(hello, { accepted: '0'.repeat(64) });
    const joining = joinRank(1, { port: server.port, size: 2, token: 'the right token' });
    await expect(joining).rejects.toThrowError(/does not know the token/);
  });

  test('must speak our version', async () => {
    using server = await impostor({ ...hello, weft: 99 }, {});
    await expect(joinRank(1, { port: server.port, size: 2 })).rejects.toThrowError(/version 99/);
  });

  test('is not a rendezvous at all', async () => {
    using server = await impostor({ hi: 1 }, {});
    const joining = joinRank(1, { port: server.port, size: 2 }, { timeoutMs: 300 });
    await expect(joining).rejects.toMatchObject({ code: 'RENDEZVOUS_FAILED' });
  });
});

describe('two jobs', () => {
  const job = (id: string) => ({ TORCHELASTIC_RUN_ID: id, TORCHELASTIC_RESTART_COUNT: '0' });

  test('a rank that reaches another job is told so, and that job is unharmed', async () => {
    const port = await freePort();
    // By hand, so that only one port is possible; the job differs by its Slurm step.
    const slurm = (step: string, rank: number) => ({
      SLURM_JOB_ID: '1',
      SLURM_STEP_ID: step,
      SLURM_PROCID: `${rank}`,
      SLURM_STEP_NUM_TASKS: '2',
      SLURM_LOCALID: `${rank}`,
      SLURM_NODEID: '0',
      SLURM_STEP_NODELIST: 'n1',
      SLURM_STEP_TASKS_PER_NODE: '2',
      MASTER_PORT: `${port}`,
      WEFT_LAUNCHER: 'srun',
    });
    const place = (step: string, rank: number) => ({ port, size: 2, env: slurm(step, rank) });
    const first = joinRank(0, place('0', 0));
    await expect(joinRank(1, place('1', 1))).rejects.toThrowError(
      expect.objectContaining({
        code: 'RENDEZVOUS_FAILED',
        message: expect.stringMatching(/another job/),
      }),
    );
    await expect(joinRank(0, place('1', 0))).rejects.toMatchObject({ code: 'PORT_IN_USE' });
    const worlds = await Promise.all([first, joinRank(1, place('0', 1))]);
    await Promise.all(worlds.map((world) => world.close()));
  });

  test('side by side on the same MASTER_PORT find each their own', async () => {
    const port = await freePort();
    const agent = { TORCHELASTIC_USE_AGENT_STORE: 'True' };
    await using a = await openRanks(2, { port, env: { ...job('a'), ...agent } });
    await using b = await openRanks(2, { port, env: { ...job('b'), ...agent } });
    await Promise.all([...a.worlds, ...b.worlds].map((world) => world.barrier('x')));
  });

  test("a silent server on torchrun's port does not stop the search", async () => {
    const agent = createServer();
    await new Promise<void>((resolve) => agent.listen(0, '127.0.0.1', resolve));
    const { port } = agent.address() as { port: number };
    await using ranks = await openRanks(2, { port, env: job('c') });
    await Promise.all(ranks.worlds.map((world) => world.barrier('x')));
    agent.close();
  });

  test('two processes of one rank: both hosts are named to all', async () => {
    const place = { port: await freePort(), size: 3 };
    const joins = [0, 1, 1].map((rank) => joinRank(rank, place).catch((error) => error));
    for (const error of await Promise.all(joins)) {
      expect(error).toMatchObject({ code: 'LAUNCHER_CONFLICT' });
      expect(error.message).toMatch(
        /two processes are rank 1: rank 1 on host .*, and rank 1 on host/,
      );
    }
  });

  test('ranks that disagree on the size are told so', async () => {
    const place = { port: await freePort(), size: 3 };
    const first = joinRank(0, place).catch((error) => error);
    const second = joinRank(1, { ...place, size: 2 }).catch((error) => error);
    for (const error of await Promise.all([first, second])) {
      expect(error.message).toMatch(/rank 1 on host .* expects 2 ranks, but rank 0 expects 3/);
    }
  });
});
