import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Desk } from '../benchmarks/weft.js';
import { dgx } from '../topology/machines.js';
import { buildStandIn } from './stand-in.js';

const library = buildStandIn();
const timeout = 60_000;

describe('weft info', () => {
  test('shows the GPUs that CUDA gives it, by address and number', { timeout }, async () => {
    using desk = new Desk();
    const env = { WEFT_LIBCUDA: library, STAND_IN_GPUS: '2' };
    const told = JSON.parse((await desk.weft('info --format json', env)).stdout);
    // A real GPU of this machine is in its tree, but not CUDA's.
    const ofCuda = told.gpus.filter((gpu: { cuda: number | null }) => gpu.cuda !== null);
    expect(ofCuda).toMatchObject([
      { pci: '0000:1a:00.0', cuda: 0 },
      { pci: '0000:1b:00.0', cuda: 1 },
    ]);
    expect(ofCuda[0].memoryBytes).toBeGreaterThan(0);
    expect((await desk.weft('info', env)).stdout).toMatch(/ 0000:1a:00\.0 .*compute \d/m);
  });

  test('says why there is none', { timeout }, async () => {
    using desk = new Desk();
    const { stdout } = await desk.weft('info', { WEFT_LIBCUDA: library, STAND_IN_GPUS: '0' });
    expect(stdout).toMatch(/^(GPUs +none: |missing ).*finds no GPU/m);
  });

  test('--topology draws a file, and refuses what is none with exit code 2', {
    timeout,
  }, async () => {
    using desk = new Desk();
    writeFileSync(join(desk.folder, 'dgx.xml'), dgx);
    const drawn = await desk.weft('info --topology dgx.xml', { COLUMNS: '80' });
    expect(drawn.stdout).toContain('dgx.xml: 4 GPUs, 5 NICs');
    expect(drawn.stdout).toContain('  3 0000:84:00.0    1  0000:80:00.0  mlx5_4');
    writeFileSync(
      join(desk.folder, 'half.xml'),
      readFileSync(join(desk.folder, 'dgx.xml')).subarray(0, 900),
    );
    const refused = await desk.weft('info --topology half.xml');
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain('half.xml:');
    expect(refused.stderr).toContain('lstopo --of xml');
  });

  test('ranks run with a GPU that the tree does not show', { timeout }, async () => {
    using desk = new Desk();
    const env = { WEFT_LIBCUDA: library, STAND_IN_GPUS: '2' };
    const run = (gpu: string) =>
      desk.weft(
        `write --provider shm --gpu ${gpu} -b 4K -e 4K --columns SinglePin --budget-ms 5 --quiet`,
        env,
      );
    expect((await run('1,0')).exitCode).toBe(0);
    const refused = await run('2');
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain('there is no GPU 2');
  });
});
