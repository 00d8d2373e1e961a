import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readRun } from '../../src/results/read-run.js';
import { SlurmCluster, whyNoSlurm } from './slurm-cluster.js';

const reason = whyNoSlurm();
const weft = resolve(import.meta.dirname, '../../bin/weft');
const small = ['write', '-b', '64K', '-e', '64K', '-n', '2', '--columns', 'SinglePin'];

describe.runIf(reason === undefined)('weft sbatch', () => {
  let cluster: SlurmCluster;
  beforeAll(async () => {
    // Slurm counts GPUs that nobody has to have.
    const conf = ['SelectType=select/cons_tres', 'GresTypes=gpu', 'NodeName=DEFAULT Gres=gpu:2'];
    const gres = ['Name=gpu File=/dev/null', 'Name=gpu File=/dev/zero'];
    cluster = await SlurmCluster.open({ name: 'sbatch', lab: { hosts: 2, nics: 1 }, conf, gres });
  });
  afterAll(async () => cluster?.[Symbol.asyncDispose]());

  const sbatch = (...args: string[]) =>
    cluster.tell(process.execPath, weft, 'sbatch', '--nodes', '2', ...args);

  test('prints a script that Slurm runs', async () => {
    const name = ['--name', 'two words', '--ranks-per-node', '2', '--gpus-per-node', '2'];
    const limits = ['--time', '90s', '--partition', 'all', '--folder', cluster.folder];
    const script = join(cluster.folder, 'job.sh');
    writeFileSync(script, `${await sbatch(...name, ...limits, '--', ...small)}\n`);
    const id = await cluster.tell('sbatch', '--parsable', script);
    const job = await cluster.reaches(id, /COMPLETED|FAILED|CANCELLED/);
    const said = readFileSync(join(cluster.folder, `two words-${id}.out`), 'utf8');
    expect(job, said).toMatchObject({
      JobState: 'COMPLETED',
      TimeLimit: '00:02:00',
      TresPerNode: 'gres:gpu:2',
    });
    const results = join(cluster.folder, 'weft-results');
    const [file = ''] = readdirSync(results).filter((one) => one.endsWith('.jsonl'));
    const { run } = readRun(join(results, file));
    expect(run).toMatchObject({
      outcome: 'passed',
      world: { launcher: 'srun', ranks: 4, hosts: ['h0', 'h1'] },
      settings: { authenticated: true },
    });
    expect(said).toMatch(/^write · tcp/m);
  });

  test('submits it, and a node without EFA fails instead of using TCP', async () => {
    const folder = join(cluster.folder, 'made', 'by-weft');
    const words = ['--efa', '--folder', folder, '--submit', '--format', 'json', '--', ...small];
    const { jobId, script } = JSON.parse(await sbatch(...words));
    const job = await cluster.reaches(jobId, /COMPLETED|FAILED|CANCELLED/);
    expect(job.JobState, script).toBe('FAILED');
    expect(readFileSync(join(folder, `weft-${jobId}.out`), 'utf8')).toMatch(/NO_PROVIDER|provider/);
  });

  test('says why Slurm refuses a script', async () => {
    const all = ['sbatch', '--nodes', '2', '--partition', 'none', '--submit', '--', ...small];
    const { code, stderr } = await cluster.run(process.execPath, [weft, ...all]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/sbatch refused the script: .*invalid partition/);
  });
});
