// A limit on threads is reached in the middle of making them: those that were made must end, and the run with a reason.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { Desk } from '../benchmarks/weft.js';

const desk = new Desk();
const library = join(desk.folder, 'few-threads.so');

beforeAll(() => {
  const source = join(import.meta.dirname, 'few-threads.cc');
  execFileSync('g++', ['-std=c++20', '-O1', '-shared', '-fPIC', source, '-o', library]);
  return () => desk[Symbol.dispose]();
});

const ipc = 'ipc --columns Kernel -b 1M -e 1M --producer cpu --grid 64 --block 1';
test.each([
  ['queue --columns Push --producer cpu --grid 64 --block 1', 6],
  [ipc, 40],
  // Not even the one that would make the others.
  [ipc, 2],
  ['proxy --columns SingleNBI -b 4K -e 4K --provider shm --producer cpu --producers 8', 6],
  ['write --columns SinglePin -b 4K -e 4K --provider shm', 0],
])('%s ends where only %i threads can be made', async (line, threads) => {
  const env = { LD_PRELOAD: library, FEW_THREADS: String(threads) };
  const run = `${line} --budget-ms 20`;
  const { exitCode, stderr } = await desk.weft(run, env);
  expect(stderr).toMatch(/cannot create a thread: /);
  expect(exitCode).toBe(1);
});
