// DMA columns on a real GPU, which all ranks share.
import { describe, expect, test } from 'vitest';
import { gpuAvailability, openGpu } from '../../src/gpu/gpu.js';
import { Desk } from '../benchmarks/weft.js';
import { describeDmaColumns, rowsOf } from './dma-suite.js';

const availability = gpuAvailability();
const reason = 'reason' in availability ? availability.reason.message : undefined;
const why = reason === undefined ? '' : ` (skipped: ${reason})`;
const GiB = 2 ** 30;

describe.skipIf(reason !== undefined)(`DMA columns on a GPU${why}`, () => {
  describeDmaColumns({}, ['shm', 'tcp']);

  test('a size that does not fit what is left of its memory is skipped, and the others run', async () => {
    using desk = new Desk();
    const gpu = openGpu();
    // Contexts of two ranks take about half a GiB each.
    using _hog = gpu.allocate(gpu.freeBytes() - 2.5 * GiB);
    const line = 'write -b 64K -e 1G -f 16384 --budget-ms 20 --columns SinglePin,SingleDMA';
    const rows = await rowsOf(desk, line, {});
    const dma = rows.filter((row) => row.column === 'SingleDMA');
    expect(dma.map((row) => row.outcome)).toEqual(['passed', 'skipped']);
    expect(dma[1]?.reason).toMatch(/2 ranks need 2G for buffers on one GPU/);
  });

  test('large rows are verified, too', async () => {
    using desk = new Desk();
    const line = 'all2all -b 256M -e 256M --ranks 2 --channels 2 -n 3';
    for (const row of await rowsOf(desk, `${line} --columns SingleDMA,MultiDMA`, {})) {
      expect(row).toMatchObject({ outcome: 'passed', checked: { wrong: 0 } });
    }
  });
});
