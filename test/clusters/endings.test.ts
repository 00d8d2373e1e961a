import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readRun } from '../../src/results/read-run.js';
import type { Run } from '../../src/results/schema.js';
import { until } from '../lab/laboratory.js';
import { marked, newMark, pause } from '../ranks/processes.js';
import { SlurmCluster, whyNoSlurm } from './slurm-cluster.js';

const reason = whyNoSlurm();
const weft = [process.execPath, resolve(import.meta.dirname, '../../bin/weft')];

describe.runIf(reason === undefined)('how jobs of Slurm end', () => {
  let cluster: SlurmCluster;
  let limited: string;
  const limitedMark = newMark();
  beforeAll(async () => {
    // Slow rails: runs last, and leave the cores to others.
    const lab = { hosts: 4, nics: 1, bitsPerSecond: 50e6 };
    cluster = await SlurmCluster.open({ name: 'endings', lab, conf: ['KillWait=15'] });
    // Slurm looks at time limits only every half minute: the last test sees what came of it.
    limited = await submit('limited', limitedMark, '-w', 'h[2-3]', '--time=1');
    await cluster.reaches(limited, /RUNNING/);
    await cluster.tell('scontrol', 'update', `JobId=${limited}`, 'EndTime=now+3');
  });
  afterAll(async () => cluster?.[Symbol.asyncDispose]());

  const out = (name: string) => join(cluster.folder, `${name}.jsonl`);
  const runOf = (name: string): Run => readRun(out(name)).run;
  const rowsOf = (name: string): number =>
    existsSync(out(name)) ? readFileSync(out(name), 'utf8').split('"line":"row"').length - 1 : 0;
  /** Columns of one size, one after the other, that take a minute in all. */
  const write = (name: string) =>
    [...weft, 'write', '-b', '64K', '-e', '256M', '-n', '3', '--out', out(name)].join(' ');

  function submit(name: string, mark: ReturnType<typeof newMark>, ...options: string[]) {
    const script = join(cluster.folder, `${name}.sh`);
    writeFileSync(
      script,
      `#!/bin/sh\nexport ${Object.entries(mark)[0]!.join('=')}\nexec srun ${write(name)}\n`,
    );
    return cluster.submit('-N2', ...options, script);
  }

  /** A job on the first two hosts that has measured something. */
  async function measuring(name: string, ...options: string[]) {
    const mark = newMark();
    const id = await submit(name, mark, '-w', 'h[0-1]', ...options);
    await until(`a row of ${name}`, () => rowsOf(name) > 0, 30_000);
    return { id, mark };
  }

  /** Everybody has gone, and the file says what happened. */
  async function ended(name: string, mark: ReturnType<typeof newMark>, message: RegExp) {
    await until(`the end of ${name}`, () => marked(mark).length === 0, 30_000);
    const run = runOf(name);
    expect(run.outcome).toBe('aborted');
    expect(run.rows.length).toBeGreaterThan(0);
    expect(run.errors).toEqual([
      expect.objectContaining({ message: expect.stringMatching(message) }),
    ]);
  }

  /** The process of a rank, not the launcher's. */
  const rankOn = (host: number, mark: ReturnType<typeof newMark>): number =>
    marked(mark).find((pid) => {
      const environ = readFileSync(`/proc/${pid}/environ`, 'latin1');
      return environ.includes(`SLURM_NODEID=${host}\0`) && environ.includes('SLURM_PROCID');
    })!;

  test('scancel', async () => {
    const { id, mark } = await measuring('cancelled');
    await cluster.tell('scancel', id);
    await ended(
      'cancelled',
      mark,
      new RegExp(`rank 0 was stopped by SIGTERM: Slurm job ${id} was cancelled`),
    );
  });

  test('a task is killed', async () => {
    const { id, mark } = await measuring('killed');
    process.kill(rankOn(1, mark), 'SIGKILL');
    await ended('killed', mark, /rank 1 on host h1 .*was lost/);
    expect(await cluster.reaches(id, /FAILED|COMPLETED/)).toMatchObject({ JobState: 'FAILED' });
  });

  test('a node that is drained, or whose slurmd hangs, goes on; one that is down does not', async () => {
    const { id, mark } = await measuring('down', '--no-requeue');
    const { pid } = cluster.daemon(1).child;
    process.kill(pid!, 'SIGSTOP');
    await cluster.tell('scontrol', 'update', 'NodeName=h1', 'State=drain', 'Reason=test');
    const rows = rowsOf('down');
    await until('more rows', () => rowsOf('down') > rows, 20_000);
    process.kill(pid!, 'SIGCONT');
    await cluster.tell('scontrol', 'update', 'NodeName=h1', 'State=down', 'Reason=test');
    await ended('down', mark, new RegExp(`Slurm job ${id} lost a node`));
    await cluster.tell('scontrol', 'update', 'NodeName=h1', 'State=resume');
    await cluster.reaches(id, /NODE_FAIL/);
  });

  test('a job that is suspended goes on when it is resumed', async () => {
    const { id, mark } = await measuring('suspended');
    await cluster.tell('scontrol', 'suspend', id);
    const stopped = (host: number) =>
      /^State:\tT/m.test(readFileSync(`/proc/${rankOn(host, mark)}/status`, 'utf8'));
    await until('the ranks to stop', () => stopped(0) && stopped(1));
    await pause(1000);
    const rows = rowsOf('suspended');
    await cluster.tell('scontrol', 'resume', id);
    await until('more rows', () => rowsOf('suspended') > rows, 20_000);
    await cluster.tell('scancel', id);
    await ended('suspended', mark, new RegExp(`Slurm job ${id} was cancelled`));
  });

  test('a requeued job keeps both runs, and says which attempt each is', async () => {
    const { id, mark } = await measuring('requeued', '--requeue');
    await cluster.tell('scontrol', 'requeue', id);
    await ended('requeued', mark, new RegExp(`Slurm job ${id} was requeued`));
    expect(runOf('requeued').settings).not.toHaveProperty('attempt');
    await cluster.reaches(id, /PENDING/);
    // Slurm would wait two minutes.
    await cluster.tell('scontrol', 'update', `JobId=${id}`, 'StartTime=now');
    await until('a second run', () => rowsOf('requeued-attempt2') > 0, 30_000);
    await cluster.tell('scancel', id);
    await ended('requeued-attempt2', mark, /was cancelled/);
    expect(runOf('requeued-attempt2').settings).toMatchObject({ attempt: 2 });
  });

  test('a rank that hangs is named, and srun -K ends it', async () => {
    const mark = newMark();
    const all = `${write('hung')} --timeout 2`.split(' ');
    const { finished } = cluster.start('srun', ['-K1', '-N2', '-w', 'h[0-1]', ...all], {
      env: mark,
    });
    await until('a row', () => rowsOf('hung') > 0, 30_000);
    process.kill(rankOn(1, mark), 'SIGSTOP');
    expect((await finished).code).not.toBe(0);
    await ended('hung', mark, /rank 1/);
  });

  test('the time limit', async () => {
    await until('its first row', () => rowsOf('limited') > 0, 30_000);
    await ended('limited', limitedMark, new RegExp(`Slurm job ${limited} reached its time limit`));
    expect(await cluster.reaches(limited, /TIMEOUT|CANCELLED/)).toMatchObject({
      JobState: 'TIMEOUT',
    });
  });
});
