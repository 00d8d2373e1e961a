// A limit on threads is reached in the middle of making them: those that were made must end, and the run with a reason.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { Desk } from '../bench/weft.js';

const desk = new Desk();
const library = join(desk.folder, 'few-threads.so');

beforeAll(() => {
  const source = join(import.meta.dirname, 'few-threads.cc');
  execFileSync('g++', ['-std=c++20', '-O1', '-shared', '-fPIC', source, '-o', library]);
  return () => desk[Symbol.dispose]();
});

test.each(['queue --columns Push', 'ipc --columns Kernel -b 1M -e 1M'])(
  '%s ends where a thread cannot be made',
  async (line) => {
    const env = { LD_PRELOAD: library, FEW_THREADS: '6' };
    const run = `${line} --producer cpu --grid 64 --block 1 --budget-ms 20`;
    const { exitCode, stderr } = await desk.weft(run, env);
    expect(stderr).toMatch(/a thread could not be made: /);
    expect(exitCode).toBe(1);
  },
);
