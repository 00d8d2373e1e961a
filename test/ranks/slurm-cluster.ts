import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pause, type Running, type RunOptions, start } from './processes.js';
import { TwoHosts } from './two-hosts.js';

/** A Slurm of two nodes, each on a host of its own; the controller runs on the first. */
export class SlurmCluster {
  readonly hosts: TwoHosts;
  readonly #folder = mkdtempSync(join(tmpdir(), 'weft-slurm-'));
  readonly #daemons: Running[] = [];

  static async open(): Promise<SlurmCluster> {
    const cluster = new SlurmCluster();
    try {
      await cluster.#ready();
      return cluster;
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
  }

  private constructor() {
    const hostsFile = join(this.#folder, 'hosts');
    writeFileSync(hostsFile, '127.0.0.1 localhost\n10.99.0.1 node1\n10.99.0.2 node2\n');
    this.hosts = new TwoHosts(hostsFile);
    for (const name of ['state', 'spool-node1', 'spool-node2']) mkdirSync(join(this.#folder, name));
    writeFileSync(join(this.#folder, 'slurm.conf'), this.#configuration());
    writeFileSync(
      join(this.#folder, 'cgroup.conf'),
      'CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n',
    );
    this.#daemons.push(
      this.start('slurmctld', ['-D'], { timeoutMs: 120_000 }),
      this.start('slurmd', ['-D', '-N', 'node1'], { timeoutMs: 120_000 }),
      this.start('slurmd', ['-D', '-N', 'node2'], { timeoutMs: 120_000 }, 1),
    );
  }

  /** Starts a command on the first host, with this cluster's configuration. */
  start(command: string, args: string[], options: RunOptions = {}, host: 0 | 1 = 0): Running {
    const [enter = '', ...rest] = this.hosts.inside(host);
    const env = { ...options.env, SLURM_CONF: join(this.#folder, 'slurm.conf') };
    return start(enter, [...rest, command, ...args], { ...options, env });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { child } of this.#daemons) child.kill('SIGTERM');
    await Promise.race([Promise.all(this.#daemons.map((d) => d.finished)), pause(3000)]);
    for (const { child } of this.#daemons) child.kill('SIGKILL');
    this.hosts[Symbol.dispose]();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #ready(): Promise<void> {
    for (let tries = 0; tries < 100; tries += 1) {
      const { stdout } = await this.start('sinfo', ['-h', '-o', '%T %D']).finished;
      if (/idle 2/.test(stdout)) return;
      await pause(100);
    }
    throw new Error('the Slurm nodes did not become idle');
  }

  #configuration(): string {
    const folder = this.#folder;
    return [
      'ClusterName=weft',
      'SlurmctldHost=node1(10.99.0.1)',
      'AuthType=auth/none',
      'CredType=cred/none',
      'ProctrackType=proctrack/linuxproc',
      'TaskPlugin=task/none',
      'SlurmdParameters=config_overrides',
      'ReturnToService=2',
      'SwitchType=switch/none',
      'MpiDefault=none',
      'SlurmUser=root',
      `SlurmctldPidFile=${folder}/slurmctld.pid`,
      `SlurmdPidFile=${folder}/slurmd-%n.pid`,
      `SlurmdSpoolDir=${folder}/spool-%n`,
      `StateSaveLocation=${folder}/state`,
      'NodeName=node[1-2] NodeAddr=10.99.0.[1-2] CPUs=8 RealMemory=100',
      'PartitionName=all Nodes=node[1-2] Default=YES State=UP OverSubscribe=FORCE',
      '',
    ].join('\n');
  }
}

export const slurmCommands = {
  srun: 'slurm-client',
  slurmctld: 'slurmctld',
  slurmd: 'slurmd',
  ip: 'iproute2',
  unshare: 'util-linux',
};
