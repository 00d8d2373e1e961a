import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Run } from '../../src/results/schema.js';
import { missing } from '../ranks/processes.js';
import { SlurmCluster, slurmCommands } from '../ranks/slurm-cluster.js';
import { whyNoHosts } from '../ranks/two-hosts.js';

const reason = missing(slurmCommands) ?? whyNoHosts();
const weft = resolve(import.meta.dirname, '../../bin/weft');

describe('srun', () => {
  let cluster: SlurmCluster;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'weft-collective-'));
    if (reason === undefined) cluster = await SlurmCluster.open();
  });
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  test('two ranks on each of two nodes; mpi is skipped where srun does not speak to it', async ({
    skip,
  }) => {
    skip(reason !== undefined, reason);
    const what = ['all-to-all-single', '--msg-bytes', '64K', '--backend', 'fabric,gloo,mpi'];
    const how = ['--iface', 'cable', '--format', 'json', '--out', join(folder, 'run.jsonl')];
    const args = ['-N2', '-n4', process.execPath, weft, ...what, ...how];
    const { stdout, stderr } = await cluster.start('srun', args).finished;
    const { rows, world } = JSON.parse(stdout) as Run;
    const outcomes = Object.fromEntries(rows.map((row) => [row.column, row.outcome]));
    expect(outcomes, stderr).toEqual({ fabric: 'passed', gloo: 'passed', mpi: 'skipped' });
    expect(world).toMatchObject({ ranks: 4, hosts: ['node1', 'node2'], launcher: 'srun' });
    expect(rows.find(({ column }) => column === 'mpi')?.reason).toMatch(/srun --mpi=pmix/);
  });
});
