import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { spawnRanks } from '../../src/world/index.js';
import { program } from './processes.js';

const ranks = 8;
const rounds = 3;
const bytes = 100_001;

test.each(['shm', 'tcp', 'net', 'sockets'])(
  '8 ranks write to each other over %s',
  async (provider) => {
    const stdout = new PassThrough();
    const job = await spawnRanks({
      ranks,
      command: process.execPath,
      args: [program('fabric-all-to-all'), provider, `${bytes}`, `${rounds}`],
      stdout,
    });
    const printed = text(stdout);
    const outcome = await job.done;
    stdout.end();
    expect(outcome.failure).toBeUndefined();
    const checked = ranks * bytes * rounds;
    expect(JSON.parse(await printed)).toEqual(Array(ranks).fill({ checked, wrong: 0 }));
  },
);
