// The queue with GPU threads as producers. `weft queue` checks every element: a row that passed lost none.
import { describe, expect, test } from 'vitest';
import { gpuAvailability, openGpu } from '../../src/gpu/gpu.js';
import { runQueue } from '../../src/gpu/queue.js';
import { Desk } from '../benchmarks/weft.js';
import type { FaultyQueueJob } from '../native/hooks.js';

const availability = gpuAvailability();
const reason = 'reason' in availability ? availability.reason.message : undefined;
const why = reason === undefined ? '' : ` (skipped: ${reason})`;

const base: FaultyQueueJob = {
  what: 'push',
  gpu: 0,
  cells: 'host',
  grid: 1,
  block: 1,
  shift: 10,
  seed: 7,
  each: 100,
  batch: 100,
  rounds: 1,
  released: false,
  timeoutMs: 20_000,
  spinsBeforeYield: 400,
};

const push = (job: Partial<FaultyQueueJob>) => {
  openGpu();
  const full = { ...base, ...job };
  return runQueue({ ...full, batch: full.grid * full.block * full.each });
};

describe.skipIf(reason !== undefined)(`the queue on a GPU${why}`, () => {
  test.each([
    ['one thread', { each: 20_000 }],
    ['one warp', { block: 32, each: 2000 }],
    ['a block that is no multiple of a warp', { block: 77, each: 500 }],
    ['hundreds of blocks of one thread', { grid: 700, each: 100 }],
    ['hundreds of thousands of producers', { grid: 512, block: 512, each: 4, shift: 13 }],
    ['a queue of two, full at all times', { grid: 3, block: 40, each: 30, shift: 1 }],
    ['a queue smaller than a warp', { grid: 8, block: 64, each: 50, shift: 3 }],
    ['more laps than generations have numbers', { block: 32, each: 10_000, shift: 2 }],
    ['released pushes', { grid: 32, block: 64, each: 50, released: true }],
    ['cells in GPU memory', { grid: 32, block: 64, each: 50, cells: 'device' }],
    ['full, with cells in GPU memory', { grid: 8, block: 64, each: 20, shift: 3, cells: 'device' }],
  ] as const)('%s: every element once, in order', async (_, job) => {
    const { grid, block, each } = { ...base, ...job };
    expect(await push(job)).toMatchObject({ popped: grid * block * each, wrong: 0, first: '' });
  });

  test.each(['drop', 'duplicate', 'flip'] as const)('a planted %s is found', async (kind) => {
    const { wrong, first } = await push({ grid: 4, block: 32, fault: { kind, at: 50 } });
    expect(wrong).toBeGreaterThan(0);
    expect(first).not.toBe('');
  });

  test('echoes: one way is shorter than the round trip, within what is known of the clocks', async () => {
    openGpu();
    const echo = await runQueue({ ...base, what: 'echo', rounds: 2000 });
    const oneWay = [...echo.oneWay].map((time) => time + echo.clockOffset).sort((a, b) => a - b);
    const roundTrip = [...echo.samples].sort((a, b) => a - b);
    expect(oneWay).toHaveLength(2000);
    expect(roundTrip).toHaveLength(2000);
    expect(echo.clockUncertainty).toBeGreaterThan(0);
    expect(oneWay[1000]!).toBeGreaterThan(-echo.clockUncertainty);
    expect(oneWay[1000]! - echo.clockUncertainty).toBeLessThan(roundTrip[1000]!);
  });

  test('an aborted run ends its kernel: the GPU works afterwards', async () => {
    openGpu();
    const ending = new AbortController();
    setTimeout(() => ending.abort(new Error('enough')), 200);
    const long = { ...base, grid: 64, block: 64, each: 2 ** 22, batch: 2 ** 34, shift: 4 };
    await expect(runQueue(long, ending.signal)).rejects.toThrow('enough');
    expect(await push({ block: 32 })).toMatchObject({ wrong: 0 });
  });

  test('weft queue runs all of its columns with GPU producers', async () => {
    using desk = new Desk();
    const line = 'queue --format json --budget-ms 50 --grid 1,132 --block 1,256';
    const { exitCode, stdout } = await desk.weft(line);
    expect(exitCode).toBe(0);
    const { rows } = JSON.parse(stdout);
    expect(rows).toHaveLength(3 * 4 + 3);
    for (const row of rows) {
      expect(row).toMatchObject({ outcome: 'passed', labels: { producer: 'gpu' } });
      expect(row.checked.wrong).toBe(0);
    }
  });
});
