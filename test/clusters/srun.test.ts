import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readRun } from '../../src/results/read-run.js';
import type { Run } from '../../src/results/schema.js';
import {
  exchanged,
  expectedExchange,
  marked,
  newMark,
  pause,
  program,
} from '../ranks/processes.js';
import { SlurmCluster, whyNoSlurm } from './slurm-cluster.js';

const reason = whyNoSlurm();
const weft = resolve(import.meta.dirname, '../../bin/weft');
const exchange = [process.execPath, program('exchange')];
const steady = [process.execPath, program('steady')];

describe('srun', () => {
  let cluster: SlurmCluster;
  beforeAll(async () => {
    if (reason === undefined) cluster = await SlurmCluster.open({ lab: { hosts: 4, nics: 2 } });
  });
  afterAll(async () => cluster?.[Symbol.asyncDispose]());

  test('ranks on two hosts find each other by the host list alone', async ({ skip }) => {
    skip(reason !== undefined, reason);
    const { stdout, stderr } = await cluster.start('srun', ['-N2', '-n4', ...exchange]).finished;
    const ranks = exchanged(stdout);
    expect(ranks, stderr).toMatchObject(expectedExchange(4));
    expect(ranks[3]).toMatchObject({
      launcher: 'srun',
      hosts: ['h0', 'h0', 'h1', 'h1'],
      localRank: 1,
      localSize: 2,
      netns: 2,
      authenticated: false,
    });
  });

  test('runs a benchmark of the user’s own', async ({ skip }) => {
    skip(reason !== undefined, reason);
    const root = resolve(import.meta.dirname, '../..');
    const out = join(mkdtempSync(join(tmpdir(), 'weft-srun-')), 'run.jsonl');
    const neighbour = ['run', join(root, 'examples/neighbour.mjs')];
    const small = ['-b', '64K', '-e', '64K', '-n', '2', '--columns', 'SinglePin'];
    const all = [
      '-N2',
      '-n2',
      process.execPath,
      weft,
      ...neighbour,
      ...small,
      '--format',
      'json',
      '--out',
      out,
    ];
    const { stdout, stderr } = await cluster.start('srun', all).finished;
    rmSync(dirname(out), { recursive: true });
    expect(JSON.parse(stdout), stderr).toMatchObject({
      benchmark: 'neighbour',
      outcome: 'passed',
      world: { launcher: 'srun', hosts: ['h0', 'h1'] },
    });
  });

  test('a soak ends with its verdict when srun passes on a signal', async ({ skip }) => {
    skip(reason !== undefined, reason);
    const folder = mkdtempSync(join(tmpdir(), 'weft-srun-soak-'));
    const soak = ['soak', '--every', '300ms', '--stall', '5s', '--format', 'json', '--out'];
    const place = ['--nics', 'nic0', '--line-rate', '400'];
    const write = ['--', 'write', '-b', '64K', ...place];
    const all = [process.execPath, weft, ...soak, join(folder, 'run.jsonl'), ...write];
    const { child, finished } = cluster.start('srun', ['-X', '-N2', '-n2', ...all]);
    const file = join(folder, 'run.jsonl');
    const rows = () => (existsSync(file) ? readFileSync(file, 'utf8').split('"line":"row"') : []);
    while (rows().length < 3) await pause(50);
    child.kill('SIGINT');
    const { code, stdout, stderr } = await finished;
    rmSync(folder, { recursive: true });
    expect(JSON.parse(stdout || JSON.stringify(stderr))).toMatchObject({
      schema: 'weft.soak/1',
      verdict: 'steady',
    });
    expect(code, stderr).toBe(0);
  });

  test('weft ab starts every run with srun', { timeout: 150_000 }, async ({ skip }) => {
    skip(reason !== undefined, reason);
    const folder = mkdtempSync(join(tmpdir(), 'weft-srun-'));
    const ab = ['ab', '--rounds', '5', '--launch', 'srun -N2 -n2', '--b', 'FI_LOG_LEVEL=warn'];
    const small = ['write', '-b', '64K', '-e', '64K', '-n', '2', '--columns', 'SinglePin'];
    const out = ['--out', join(folder, 'both'), '--format', 'json'];
    const all = ['-N2', '-n2', process.execPath, weft, ...ab, ...out, '--', ...small];
    const { stdout, stderr } = await cluster.start('salloc', all).finished;
    const run = readRun(join(folder, 'both/b/05.jsonl')).run;
    rmSync(folder, { recursive: true });
    expect(JSON.parse(stdout), stderr).toMatchObject({ method: 'in turns', blocks: [5, 5] });
    expect(run.world).toMatchObject({ launcher: 'srun', hosts: ['h0', 'h1'] });
  });

  test('steps of one job run side by side, with a token', async ({ skip }) => {
    skip(reason !== undefined, reason);
    const steps = `${['srun', '-N2', '-n2', '--overlap', ...exchange].join(' ')} & `.repeat(2);
    const env = { WEFT_TOKEN: 'a token of this test' };
    const { stdout, stderr } = await cluster.start(
      'salloc',
      ['-N2', '-n2', 'sh', '-c', `${steps}wait`],
      { env },
    ).finished;
    const ranks = exchanged(stdout);
    expect(ranks, stderr).toHaveLength(4);
    expect(ranks[3]).toMatchObject({ rank: 1, size: 2, authenticated: true, netns: 2 });
  });

  test('a rank that dies on one host ends the others', async ({ skip }) => {
    skip(reason !== undefined, reason);
    const mark = newMark();
    const env = { ...mark, TEST_EXIT: '1' };
    const { code, stderr } = await cluster.start('srun', ['-N2', '-n2', ...steady], { env })
      .finished;
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/PEER_LOST: rank 1 on host h1/);
    expect(marked(mark)).toEqual([]);
  });

  test('a missing rank is named with the host it was expected on', async ({ skip }) => {
    skip(reason !== undefined, reason);
    const late = `[ $SLURM_PROCID = 1 ] && exec sleep 2.5; exec ${steady.join(' ')}`;
    const env = { TEST_TIMEOUT_MS: '1500' };
    const { stderr } = await cluster.start('srun', ['-N2', '-n2', 'sh', '-c', late], { env })
      .finished;
    expect(stderr).toMatch(
      /1 of 2 ranks joined within 1.5 s; missing: rank 1 \(expected on host h1\)/,
    );
  });

  test('a process alone in an allocation of four is told to use srun', async ({ skip }) => {
    skip(reason !== undefined, reason);
    const { code, stderr } = await cluster.start('salloc', ['-N2', '-n4', ...steady]).finished;
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/LAUNCHER_CONFLICT: this Slurm allocation has 4 tasks/);
  });

  test('two ranks on each of two nodes; mpi is skipped where srun does not speak to it', async ({
    skip,
  }) => {
    skip(reason !== undefined, reason);
    const what = ['all-to-all-single', '--msg-bytes', '64K', '--backend', 'fabric,gloo,mpi'];
    const how = ['--iface', 'mgmt', '--format', 'json', '--out', join(cluster.folder, 'a2a.jsonl')];
    const args = ['-N2', '-n4', process.execPath, weft, ...what, ...how];
    const { stdout, stderr } = await cluster.run('srun', args);
    const { rows, world } = JSON.parse(stdout || JSON.stringify(stderr)) as Run;
    const outcomes = Object.fromEntries(rows.map((row) => [row.column, row.outcome]));
    expect(outcomes, stderr).toEqual({ fabric: 'passed', gloo: 'passed', mpi: 'skipped' });
    expect(world).toMatchObject({ ranks: 4, hosts: ['h0', 'h1'], launcher: 'srun' });
    expect(rows.find(({ column }) => column === 'mpi')?.reason).toMatch(/srun --mpi=pmix/);
  });
});
