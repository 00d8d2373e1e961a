import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { start } from '../ranks/processes.js';
import { freePort, rankEnv } from './ranks-in-process.js';

const bin = resolve(import.meta.dirname, '../../bin/weft');

test('rank 0 refuses to meet more ranks than it may open files for', async () => {
  const env = rankEnv(0, { port: await freePort(), size: 100, token: 'secret-of-test' });
  const command = ['--nofile=64:64', process.execPath, bin, 'write', '--timeout', '5'];
  const { code, stderr } = await start('prlimit', command, { env }).finished;
  expect(code).toBe(1);
  expect(stderr).toContain('rank 0 may open 64 files, but needs 132 to meet 100 ranks');
  expect(stderr).toContain('ulimit -n');
});
