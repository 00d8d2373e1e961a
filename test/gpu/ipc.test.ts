// A kernel of one process writes into the GPU memory of another.
import { describe, expect, test } from 'vitest';
import { gpuAvailability } from '../../src/gpu/gpu.js';
import { Desk, withFault } from '../benchmarks/weft.js';

const availability = gpuAvailability();
const reason = 'reason' in availability ? availability.reason.message : undefined;
const why = reason === undefined ? '' : ` (skipped: ${reason})`;

describe.skipIf(reason !== undefined)(`weft ipc on a GPU${why}`, () => {
  test('sweeps shapes, verified on the GPU, and names the path', async () => {
    using desk = new Desk();
    const line =
      'ipc --format json --budget-ms 50 -b 64K -e 64M -f 32 --grid 1,16,128 --block 32,256';
    const { exitCode, stdout } = await desk.weft(line);
    expect(exitCode).toBe(0);
    const { rows } = JSON.parse(stdout);
    expect(rows).toHaveLength(3 * (6 + 1));
    for (const row of rows) {
      expect(row).toMatchObject({ outcome: 'passed', labels: { producer: 'gpu' } });
      expect(row.checked).toEqual({ bytes: row.bytes, wrong: 0 });
      expect(['same GPU', 'NVLink', 'PCIe']).toContain(row.labels.path);
      if (row.labels.path === 'same GPU') expect(row.busbwPercent).toBeGreaterThan(0);
    }
  });

  test('a wrong byte in the other process’s memory is found', async () => {
    using desk = new Desk();
    const line = 'ipc --format json --budget-ms 20 -b 1M -e 1M --grid 16 --block 256';
    const { exitCode, stdout } = await desk.weft(line, withFault('landing:4096'));
    expect(exitCode).toBe(1);
    for (const row of JSON.parse(stdout).rows) expect(row.outcome).toBe('failed');
  });
});
