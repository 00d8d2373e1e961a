import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addFault, findLab, heal } from '../../src/lab/index.js';
import { labName } from '../lab/laboratory.js';
import { pause } from '../ranks/processes.js';
import { SlurmCluster, whyNoSlurm } from './slurm-cluster.js';

const weft = resolve(import.meta.dirname, '../../bin/weft');
const reason = whyNoSlurm();

describe('the gate in Slurm', () => {
  const folder = mkdtempSync(join(tmpdir(), 'weft-gate-'));
  let cluster: SlurmCluster;

  /** A script as an administrator installs it. */
  function installed(piece: string): string {
    const path = join(folder, `${piece}.sh`);
    const text = execFileSync(weft, ['gate', '--print', piece], { encoding: 'utf8' });
    writeFileSync(path, text.replaceAll('/etc/weft/gate.conf', join(folder, 'gate.conf')));
    chmodSync(path, 0o755);
    return path;
  }

  /** Waits until a node has this state and this reason; without a reason it is empty. */
  async function standsAt(name: string, state: RegExp, why: RegExp) {
    for (const end = performance.now() + 45_000; ; await pause(100)) {
      const { Reason = '', State = '' } = await cluster.node(name);
      if (state.test(State) && why.test(Reason)) return;
      if (performance.now() > end) throw new Error(`${name} is ${State}: ${Reason}`);
    }
  }

  const drain = (name: string, why: string) =>
    cluster.tell('scontrol', 'update', `nodename=${name}`, 'state=drain', `reason=${why}`);

  beforeAll(async () => {
    if (reason !== undefined) return;
    const token = join(folder, 'token');
    writeFileSync(token, 'a token of this test', { mode: 0o600 });
    writeFileSync(join(folder, 'gate.conf'), `GATE_LOG=${folder}/log\nGATE_TOKEN=${token}\n`);
    cluster = await SlurmCluster.open({
      name: 'gate',
      lab: { hosts: 4, nics: 2 },
      conf: [
        `Prolog=${installed('slurm-prolog')}`,
        `Epilog=${installed('slurm-epilog')}`,
        'PrologFlags=Alloc',
        `HealthCheckProgram=${installed('slurm-health')}`,
        'HealthCheckInterval=3',
        'SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,nohold_on_prolog_fail',
      ],
    });
    // Slurm does not tell health checks.
    const slurmConf = join(cluster.folder, 'slurm.conf');
    appendFileSync(join(folder, 'gate.conf'), `export SLURM_CONF=${slurmConf}\n`);
  });
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  test('a slow node is drained with the reason, and resumed when it is healed', {
    timeout: 120_000,
  }, async ({ skip }) => {
    skip(reason !== undefined, reason);
    const lab = await findLab(labName('gate'));
    const faulty = addFault(lab, { host: 2, nic: 1, bitsPerSecond: 30e6, direction: 'out' });
    const job = await cluster.submit('-N4', '--wrap', 'srun hostname');
    await standsAt('h2', /DRAIN/, /^weft gate: nic1 sends .* % of the line rate; expected/);
    // The epilog has measured once more, and left it drained; nobody else was.
    await standsAt('h2', /^IDLE\+DRAIN/, /^weft gate: nic1 sends/);
    for (const name of ['h0', 'h1', 'h3']) await standsAt(name, /^IDLE$/, /^$/);
    expect(await cluster.job(job)).toMatchObject({ JobState: 'PENDING', Restarts: '1' });
    await cluster.tell('scancel', job);
    for (const piece of ['prolog', 'epilog']) {
      expect(readdirSync(join(folder, 'log'))).toContain(`gate-h0-${piece}-${job}.jsonl`);
    }
    // Neither a dead node nor one that someone else drained keeps h2 from being tested again.
    cluster.daemon(3).child.kill('SIGKILL');
    await drain('h3', 'weft gate: test');
    await drain('h1', 'memory test');
    heal(faulty);
    await standsAt('h2', /^IDLE$/, /^$/);
    await standsAt('h3', /DRAIN/, /^weft gate: /);
    await standsAt('h1', /DRAIN/, /^memory test/);
    await cluster.tell('scontrol', 'update', 'nodename=h1', 'state=resume');
    // A job that passes its prolog, and in it the gate as --isolate starts it with srun.
    const isolate = [process.execPath, weft, 'gate', '--isolate', '--quiet', '--format', 'json'];
    const out = ['--out', join(folder, 'isolate.json')];
    const found = JSON.parse(await cluster.tell('salloc', '-N3', ...isolate, ...out));
    expect(found).toMatchObject({ outcome: 'clean', tries: [{ outcome: 'passed', exitCode: 0 }] });
    expect(found.healthy).toEqual(['h0', 'h1', 'h2']);
  });
});
