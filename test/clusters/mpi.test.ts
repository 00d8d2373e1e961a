import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readRun } from '../../src/results/read-run.js';
import { until, whyNoLab } from '../lab/laboratory.js';
import {
  exchanged,
  expectedExchange,
  marked,
  missing,
  newMark,
  program,
  type RunOptions,
} from '../ranks/processes.js';
import { LabHosts } from './lab-hosts.js';
import { startSsh, whyNoSsh } from './ssh.js';

const reason =
  whyNoLab() ??
  whyNoSsh() ??
  missing({ 'mpirun.openmpi': 'openmpi-bin', 'mpiexec.hydra': 'mpich' });
const weft = resolve(import.meta.dirname, '../../bin/weft');
const exchange = [process.execPath, program('exchange')];

describe('over ssh, without MASTER_ADDR', () => {
  let hosts: LabHosts;
  let ssh: string;
  beforeAll(async () => {
    if (reason !== undefined) return;
    hosts = await LabHosts.raise('mpi', { hosts: 3, nics: 2 });
    ssh = await startSsh(hosts);
  });
  afterAll(async () => hosts?.[Symbol.asyncDispose]());

  const launchers = {
    openmpi: (on: string, ranks: number, env: Record<string, string>) => [
      'mpirun.openmpi',
      ...['--allow-run-as-root', '--oversubscribe', '--mca', 'plm_rsh_agent', ssh],
      ...Object.keys(env).flatMap((name) => ['-x', name]),
      ...['--map-by', 'node', '--host', on, '-n', `${ranks}`],
    ],
    mpich: (on: string, ranks: number, env: Record<string, string>) => [
      'mpiexec.hydra',
      ...['-launcher', 'ssh', '-launcher-exec', ssh],
      ...Object.entries(env).flatMap(([name, value]) => ['-genv', name, value]),
      ...['-hosts', on, '-n', `${ranks}`],
    ],
  };
  const both = ['openmpi', 'mpich'] as const;

  /** Starts ranks from the first host, on the others. */
  function launch(
    launcher: (typeof both)[number],
    ranks: number,
    command: string[],
    { env = {}, ...options }: RunOptions & { env?: Record<string, string> } = {},
  ) {
    const on = launcher === 'openmpi' ? 'h1:4,h2:4' : 'h1,h2';
    const [first = '', ...words] = launchers[launcher](on, ranks, env);
    return hosts.start(0, first, [...words, ...command], { ...options, env });
  }

  test.for(both)(
    '%s: ranks of two jobs at once find their own rank 0',
    async (launcher, { skip }) => {
      skip(reason !== undefined, reason);
      const jobs = await Promise.all(
        [4, 2].map((ranks) => launch(launcher, ranks, exchange).finished),
      );
      for (const [i, { code, stdout, stderr }] of jobs.entries()) {
        expect(exchanged(stdout), stderr).toMatchObject(expectedExchange([4, 2][i]!));
        expect(code, `${stdout}\n${stderr}`).toBe(0);
      }
      const hosts = ['h1', 'h2', 'h1', 'h2'];
      expect(exchanged(jobs[0]!.stdout)[0]).toMatchObject({ launcher, hosts, netns: 2 });
    },
  );

  test.for(both)('%s: data takes the rails', async (launcher, { skip }) => {
    skip(reason !== undefined, reason);
    const out = join(hosts.folder, `${launcher}.jsonl`);
    const write = ['write', '-b', '1M', '-e', '1M', '-n', '2', '--columns', 'MultiPin'];
    const meter = hosts.meter();
    const command = [process.execPath, weft, ...write, '--out', out];
    const { code, stderr } = await launch(launcher, 2, command).finished;
    expect(code, stderr).toBe(0);
    expect(readRun(out).run).toMatchObject({
      outcome: 'passed',
      world: { ranks: 2, hosts: ['h1', 'h2'], launcher },
    });
    const { rails, management } = meter();
    for (const { tx } of rails[1]!) expect(tx).toBeGreaterThan(1 << 20);
    expect(management[1]!.tx).toBeLessThan((rails[1]![0]!.tx + rails[1]![1]!.tx) / 10);
  });

  test('openmpi: an expert layer is verified, over the rails', async ({ skip }) => {
    skip(reason !== undefined, reason);
    const out = join(hosts.folder, 'moe.jsonl');
    const layer = ['moe', '--tokens', '64', '--hidden', '512', '-n', '2'];
    const command = [process.execPath, weft, ...layer, '--columns', 'BothMultiPin', '--out', out];
    const { code, stderr } = await launch('openmpi', 2, command).finished;
    expect(code, stderr).toBe(0);
    const { world, rows } = readRun(out).run;
    expect(world).toMatchObject({ ranks: 2, launcher: 'openmpi' });
    expect(rows).toMatchObject([
      {
        column: 'BothMultiPin',
        outcome: 'passed',
        checked: { wrong: 0 },
        path: { asPlanned: true },
      },
    ]);
  });

  test.for(both)('%s: the mpi backend runs as well', async (launcher, { skip }) => {
    skip(reason !== undefined, reason);
    const what = ['all-to-all-single', '--msg-bytes', '64K', '--backend', 'fabric,mpi'];
    const command = [process.execPath, weft, ...what, '--format', 'json'];
    const out = join(hosts.folder, `${launcher}-mpi.jsonl`);
    const { code, stdout, stderr } = await launch(launcher, 2, [...command, '--out', out]).finished;
    expect(code, stdout + stderr).toBe(0);
    const { rows } = readRun(out).run;
    expect(rows.map(({ column, outcome }) => [column, outcome])).toEqual([
      ['fabric', 'passed'],
      ['mpi', 'passed'],
    ]);
  });

  test.for(both)('%s: a rank that is killed ends the job', async (launcher, { skip }) => {
    skip(reason !== undefined, reason);
    const mark = newMark();
    const env = { ...mark, TEST_EXIT: '1' };
    const steady = [process.execPath, program('steady')];
    const { code } = await launch(launcher, 2, steady, { env }).finished;
    expect(code).not.toBe(0);
    expect(marked(mark)).toEqual([]);
  });

  /** hydra does not end the others when a rank exits. */
  test('openmpi: a rank that never joins ends the job', async ({ skip }) => {
    skip(reason !== undefined, reason);
    const mark = newMark();
    const env = { ...mark, WEFT_JOIN_TIMEOUT: '1', TEST_TIMEOUT_MS: '60000' };
    const absent = 'test $OMPI_COMM_WORLD_RANK = 0 || exec sleep 60; exec "$@"';
    const command = ['sh', '-c', absent, 'sh', process.execPath, program('steady')];
    const { code, stderr } = await launch('openmpi', 2, command, { env }).finished;
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/some ranks of mpirun did not start within 1 s/);
    await until('the end of all', () => marked(mark).length === 0);
  });
});
