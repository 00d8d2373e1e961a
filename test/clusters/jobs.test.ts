import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readRun } from '../../src/results/read-run.js';
import type { Run } from '../../src/results/schema.js';
import { SlurmCluster, whyNoSlurm } from './slurm-cluster.js';

const reason = whyNoSlurm();
const weft = [process.execPath, resolve(import.meta.dirname, '../../bin/weft')];
const small = ['-b', '256K', '-e', '256K', '-n', '2', '--columns', 'MultiPin'];

describe.runIf(reason === undefined)('jobs of Slurm on four nodes', () => {
  let cluster: SlurmCluster;
  beforeAll(async () => {
    cluster = await SlurmCluster.open({ name: 'jobs', lab: { hosts: 4, nics: 2 } });
  });
  afterAll(async () => cluster?.[Symbol.asyncDispose]());

  const out = (name: string) => join(cluster.folder, `${name}.jsonl`);
  const runOf = (name: string): Run => readRun(out(name)).run;

  /** A batch script; its job's number. */
  function batch(name: string, lines: string[], ...options: string[]): Promise<string> {
    const script = join(cluster.folder, `${name}.sh`);
    writeFileSync(script, `${['#!/bin/sh', ...lines].join('\n')}\n`);
    return cluster.submit(...options, script);
  }

  test('write on four nodes: data takes the rails, not the management network', async () => {
    const meter = cluster.hosts.meter();
    const write = [...weft, 'write', ...small, '--out', out('write')];
    const { code, stderr } = await cluster.run('srun', ['-N4', ...write]);
    expect(code, stderr).toBe(0);
    const { rails, management } = meter();
    const { rows, world } = runOf('write');
    expect(world).toMatchObject({ launcher: 'srun', hosts: cluster.hosts.names });
    const [row] = rows;
    expect(row?.path?.asPlanned).toBe(true);
    // Twice timed, and verified: half of every buffer on each rail, to each of three hosts.
    for (const { tx } of rails[0]!) expect(tx).toBeGreaterThan(3 * 3 * 128 * 1024);
    for (const host of [1, 2, 3]) {
      for (const { rx } of rails[host]!) expect(rx).toBeGreaterThan(3 * 128 * 1024);
      expect(management[host]!.rx).toBeLessThan(128 * 1024);
    }
  });

  test('all2all with two tasks on each node: every rail of every host carries its share', async () => {
    const meter = cluster.hosts.meter();
    const all2all = [...weft, 'all2all', '-b', '64K', '-e', '64K', '-n', '1', '-w', '0'];
    const how = ['--columns', 'MultiPin', '--out', out('all2all')];
    const args = ['-N4', '--ntasks-per-node=2', ...all2all, ...how];
    const { code, stderr } = await cluster.run('srun', args);
    expect(code, stderr).toBe(0);
    expect(runOf('all2all')).toMatchObject({
      outcome: 'passed',
      world: { ranks: 8, hostOfRank: ['h0', 'h0', 'h1', 'h1', 'h2', 'h2', 'h3', 'h3'] },
    });
    const { rails, management } = meter();
    for (const [host, nics] of rails.entries()) {
      // Two ranks to six on other hosts, half on each rail, and once more to verify.
      for (const { tx } of nics) expect(tx).toBeGreaterThan(2 * 12 * 32 * 1024);
      // Rank 0 answers all others there.
      const most = host === 0 ? 1 : 0.25;
      expect(management[host]!.tx).toBeLessThan(most * (nics[0]!.tx + nics[1]!.tx));
    }
  });

  test('two batch jobs run on the same nodes at once', async () => {
    const job = (name: string) =>
      batch(name, [`srun ${[...weft, 'write', ...small, '--out', out(name)].join(' ')}`], '-N4');
    const ids = await Promise.all([job('left'), job('right')]);
    const ends = await Promise.all(ids.map((id) => cluster.reaches(id, /COMPLETED|FAILED/)));
    for (const end of ends)
      expect(end).toMatchObject({ JobState: 'COMPLETED', NodeList: 'h[0-3]' });
    for (const name of ['left', 'right']) expect(runOf(name)).toMatchObject({ outcome: 'passed' });
    const times = (key: 'StartTime' | 'EndTime') => ends.map((end) => Date.parse(end[key]!));
    expect(Math.max(...times('StartTime'))).toBeLessThanOrEqual(Math.min(...times('EndTime')));
  });

  test('a job array: every task has its own run', async () => {
    const name = `${cluster.folder}/array-$SLURM_ARRAY_TASK_ID.jsonl`;
    const line = `srun ${[...weft, 'write', ...small, '--out', name].join(' ')}`;
    const id = await batch('array', [line], '-N2', '--array=1-2');
    for (const task of [1, 2]) {
      await cluster.reaches(`${id}_${task}`, /COMPLETED|FAILED/);
      expect(runOf(`array-${task}`)).toMatchObject({ outcome: 'passed', world: { ranks: 2 } });
    }
  });

  test('srun --mpi=pmix serves the mpi backend', async () => {
    expect(await cluster.tell('sh', '-c', 'srun --mpi=list 2>&1')).toMatch(/pmix/);
    const what = ['all-to-all-single', '--msg-bytes', '64K', '--backend', 'fabric,mpi'];
    const all = [...weft, ...what, '--out', out('pmix')];
    const { code, stdout, stderr } = await cluster.run('srun', ['--mpi=pmix', '-N2', ...all]);
    expect(code, stdout + stderr).toBe(0);
    const { rows, world } = runOf('pmix');
    expect(world).toMatchObject({ launcher: 'srun', hosts: ['h0', 'h1'] });
    expect(rows.map(({ column, outcome }) => [column, outcome])).toEqual([
      ['fabric', 'passed'],
      ['mpi', 'passed'],
    ]);
  });
});
