// Writes that a kernel asks for. The data of a checked iteration is made by the kernel just before it asks, so a write
// that overtakes its data is found.
import { describe, expect, test } from 'vitest';
import { gpuAvailability } from '../../src/gpu/gpu.js';
import { Desk, withFault } from '../benchmarks/weft.js';

const availability = gpuAvailability();
const reason = 'reason' in availability ? availability.reason.message : undefined;
const why = reason === undefined ? '' : ` (skipped: ${reason})`;

describe.skipIf(reason !== undefined).each(['shm', 'tcp'])(
  `weft proxy with kernels on a GPU over %s${why}`,
  (provider) => {
    const line = `proxy --provider ${provider} --format json --budget-ms 50`;

    test('every column passes, verified, and says who produced', async () => {
      using desk = new Desk();
      const { exitCode, stdout } = await desk.weft(`${line} -b 4K -e 4M -f 32 --channels 2`);
      expect(exitCode).toBe(0);
      const { rows } = JSON.parse(stdout);
      expect(rows).toHaveLength(3 * 6);
      for (const row of rows) {
        expect(row).toMatchObject({ outcome: 'passed', checked: { wrong: 0 } });
        const { memory, path } = row.labels;
        expect(['pinned', 'direct']).toContain(memory);
        const copied = memory === 'direct' && provider === 'shm';
        expect(path).toBe(copied && availability.gpus.length === 1 ? 'same GPU' : undefined);
        if (row.lossPercent === undefined) continue;
        expect(row.labels.producer).toBe('gpu');
        expect(row.breakdown.clockUncertaintyNanoseconds).toBeGreaterThan(0);
        const doubt = row.breakdown.clockUncertaintyNanoseconds;
        for (const { p50 } of row.breakdown.stages) expect(p50).toBeGreaterThan(-2 * doubt);
      }
    });

    test('several blocks ask for writes of odd sizes to several peers', async () => {
      using desk = new Desk();
      const options = '--ranks 3 -b 999 -e 70001 -f 70 --requests 13 --producers 5';
      const { exitCode, stdout } = await desk.weft(`${line} ${options}`);
      expect(exitCode).toBe(0);
      for (const row of JSON.parse(stdout).rows) expect(row.outcome).toBe('passed');
    });

    test('dropped data is found, and the kernel ends', async () => {
      using desk = new Desk();
      const { exitCode, stdout } = await desk.weft(
        `${line} -b 64K -e 64K --columns SingleNBI`,
        withFault('drop:0'),
      );
      expect(exitCode).toBe(1);
      expect(JSON.parse(stdout).rows[0].outcome).toBe('failed');
    });
  },
);
