import { connect, type Socket } from 'node:net';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { start } from '../ranks/processes.js';
import { freePort, joinRank, rankEnv } from './ranks-in-process.js';

const bin = resolve(import.meta.dirname, '../../bin/weft');

test('rank 0 refuses to meet more ranks than it may open files for', async () => {
  const env = rankEnv(0, { port: await freePort(), size: 100, token: 'secret-of-test' });
  const command = ['--nofile=64:64', process.execPath, bin, 'write', '--timeout', '5'];
  const { code, stderr } = await start('prlimit', command, { env }).finished;
  expect(code).toBe(1);
  expect(stderr).toContain('rank 0 may open 64 files, but needs 132 to meet 100 ranks');
  expect(stderr).toContain('ulimit -n');
});

test('strangers do not use up the files of a rank 0 that may open few', {
  timeout: 30_000,
}, async () => {
  const place = { port: await freePort(), size: 2, token: 'secret-of-test' };
  const command = ['--nofile=64:64', process.execPath, bin, 'write', '--timeout', '20'];
  const first = start('prlimit', command, { env: rankEnv(0, place) });
  const sockets = new Set<Socket>();
  let open = true;
  // Each comes back as soon as it is thrown out, and says nothing.
  const visit = () => {
    const socket = connect({ host: '127.0.0.1', port: place.port });
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', async () => {
      sockets.delete(socket);
      await sleep(100);
      if (open) visit();
    });
  };
  try {
    for (let i = 0; i < 100; i++) visit();
    await sleep(1000);
    await using rank = await joinRank(1, place, { timeoutMs: 5000 });
    expect(rank.members).toHaveLength(2);
  } finally {
    open = false;
    for (const socket of sockets) socket.destroy();
    first.child.kill('SIGKILL');
    await first.finished;
  }
});
