// DMA columns, from the command line down to libfabric, on a stand-in for CUDA's driver.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Desk } from '../benchmarks/weft.js';
import { describeDmaColumns, rowsOf } from './dma-suite.js';
import { buildStandIn } from './stand-in.js';

const env = { WEFT_LIBCUDA: buildStandIn(), STAND_IN_BYTES: String(2 ** 30) };

describe('on a stand-in for a GPU', () => {
  describeDmaColumns(env, ['shm', 'tcp']);
});

describe('trouble with the GPU', () => {
  const line = 'write -b 64K -e 64K --budget-ms 20';

  test('without a driver DMA columns are skipped, with the reason, and the others run', async () => {
    using desk = new Desk();
    const none = { WEFT_LIBCUDA: '/nowhere/libcuda.so.1' };
    const rows = await rowsOf(desk, `${line} --columns SinglePin,SingleDMA`, none);
    expect(rows.map(({ column, outcome }) => `${column} ${outcome}`).sort()).toEqual([
      'SingleDMA skipped',
      'SinglePin passed',
    ]);
    const skipped = rows.find((row) => row.outcome === 'skipped');
    expect(skipped?.reason).toMatch(/needs a GPU: rank 0 on .*: no CUDA driver/);
  });

  test('a size that does not fit its memory is skipped, with the sum, and the others run', async () => {
    using desk = new Desk();
    const small = { ...env, STAND_IN_BYTES: String(160 * 2 ** 20) };
    const sizes = 'write -b 1M -e 64M -f 64 --budget-ms 20 --columns SinglePin,SingleDMA';
    const rows = await rowsOf(desk, sizes, small);
    const bySize = rows.map((row) => `${row.column} ${row.bytes} ${row.outcome}`);
    expect(bySize.sort()).toEqual([
      'SingleDMA 1048576 passed',
      'SingleDMA 67108864 skipped',
      'SinglePin 1048576 passed',
      'SinglePin 67108864 passed',
    ]);
    const skipped = rows.find((row) => row.outcome === 'skipped');
    expect(skipped?.reason).toMatch(/2 ranks need 128M for buffers on one GPU of .*; 160M is free/);
  });

  test('a copy that fails in mid-run ends the run and says what happened', async () => {
    using desk = new Desk();
    const broken = { ...env, STAND_IN_FAIL: 'cuEventQuery:700' };
    const { exitCode, stdout, stderr } = await desk.weft(`${line} --columns SingleDMA`, broken);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/a kernel accessed an illegal address/);
    expect(stdout).toMatch(/aborted/);
  });

  test('ranks take GPUs in turn', async () => {
    using desk = new Desk();
    const log = join(desk.folder, 'driver.log');
    const two = { ...env, STAND_IN_GPUS: '2', STAND_IN_LOG: log };
    const rows = await rowsOf(desk, `${line} --ranks 3 --columns SingleDMA`, two);
    expect(rows[0]).toMatchObject({ outcome: 'passed', labels: { memory: 'staged' } });
    const retained = readFileSync(log, 'utf8').match(/^\d cuDevicePrimaryCtxRetain \d$/gm);
    expect([...new Set(retained)].sort()).toEqual([
      '0 cuDevicePrimaryCtxRetain 0',
      '1 cuDevicePrimaryCtxRetain 1',
      '2 cuDevicePrimaryCtxRetain 0',
    ]);
  });
});
