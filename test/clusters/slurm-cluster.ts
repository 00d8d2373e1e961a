import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LabSpec } from '../../src/lab/index.js';
import { whyNoLab } from '../lab/laboratory.js';
import {
  type Finished,
  missing,
  pause,
  type Running,
  type RunOptions,
} from '../ranks/processes.js';
import { LabHosts } from './lab-hosts.js';

/** Why no Slurm can be started here; undefined when one can. */
export const whyNoSlurm = (): string | undefined =>
  missing({ srun: 'slurm-client', slurmctld: 'slurmctld', slurmd: 'slurmd' }) ?? whyNoLab();

export interface ClusterOptions {
  /** Distinguishes clusters that are up at the same time in one test file. */
  readonly name?: string;
  /** Default: 4 hosts with 2 NICs each. */
  readonly lab?: Partial<LabSpec>;
  /** Lines for slurm.conf: Prolog, HealthCheckProgram, SlurmctldParameters, … They win over ours. */
  readonly conf?: readonly string[];
  /** Lines for gres.conf: devices that Slurm counts. */
  readonly gres?: readonly string[];
}

/** Fields of `scontrol show`, by name. */
export type Shown = Readonly<Record<string, string>>;

/**
 * A Slurm over the hosts of a lab: slurmctld on the first, and on every host a slurmd under the host's own name (h0,
 * h1, …). Slurm's own traffic takes the management network.
 */
export class SlurmCluster implements AsyncDisposable {
  readonly hosts: LabHosts;
  readonly #controller: Running;
  readonly #daemons: readonly Running[];

  static async open(options: ClusterOptions = {}): Promise<SlurmCluster> {
    const hosts = await LabHosts.raise(options.name ?? 'slurm', options.lab);
    try {
      const cluster = new SlurmCluster(hosts, options);
      await cluster.idle();
      return cluster;
    } catch (error) {
      await hosts[Symbol.asyncDispose]();
      throw error;
    }
  }

  private constructor(hosts: LabHosts, { conf = [], gres = [] }: ClusterOptions) {
    this.hosts = hosts;
    const { folder, names } = hosts;
    const own = names.flatMap((name) => [`spool-${name}`, `tmp-${name}`]);
    for (const name of ['state', ...own]) mkdirSync(join(folder, name));
    writeFileSync(join(folder, 'slurm.conf'), this.#configuration(conf));
    writeFileSync(join(folder, 'cgroup.conf'), 'CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n');
    writeFileSync(join(folder, 'gres.conf'), gres.map((line) => `${line}\n`).join(''));
    const long = { timeoutMs: 3_600_000 };
    this.#controller = this.start('slurmctld', ['-D'], long);
    this.#daemons = names.map((name, host) => this.start('slurmd', ['-D', '-N', name], long, host));
  }

  /** All hosts see it; it goes with the cluster. */
  get folder(): string {
    return this.hosts.folder;
  }

  /** The slurmd of a host. */
  daemon(host: number): Running {
    return this.#daemons[host]!;
  }

  /** Starts a command of Slurm, or any other, on the first host unless told otherwise. */
  start(command: string, args: string[], options: RunOptions = {}, host = 0): Running {
    const env = { ...options.env, SLURM_CONF: join(this.folder, 'slurm.conf') };
    return this.hosts.start(host, command, args, { ...options, env });
  }

  run(command: string, args: string[], options?: RunOptions, host?: number): Promise<Finished> {
    return this.start(command, args, options, host).finished;
  }

  /** What must succeed; resolves with what it printed. */
  async tell(command: string, ...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(command, args);
    if (code === 0) return stdout.trim();
    throw new Error(`${command} ${args.join(' ')}: ${stderr || `exit code ${code}`}`);
  }

  /** The number of the job that sbatch made of these words. */
  async submit(...args: string[]): Promise<string> {
    const output = ['--output', join(this.folder, 'job-%j.out')];
    return (await this.tell('sbatch', '--parsable', ...output, ...args)).split(';')[0]!;
  }

  /** `JobState`, `Reason`, `NodeList`, … */
  async job(id: string): Promise<Shown> {
    return fieldsOf(await this.tell('scontrol', '-o', 'show', 'job', id));
  }

  /** `State`, `Reason`, … */
  async node(name: string): Promise<Shown> {
    return fieldsOf(await this.tell('scontrol', '-o', 'show', 'node', name));
  }

  /** Waits until a job is in a state: `RUNNING`, `COMPLETED`, `FAILED`, … */
  async reaches(id: string, state: RegExp, withinMs = 30_000): Promise<Shown> {
    for (const end = performance.now() + withinMs; ; await pause(50)) {
      const job = await this.job(id);
      if (state.test(job.JobState ?? '')) return job;
      if (performance.now() > end) throw new Error(`job ${id} is ${job.JobState}, not ${state}`);
    }
  }

  /** Waits until every node is idle. */
  async idle(withinMs = 20_000): Promise<void> {
    const all = this.hosts.names.length;
    for (const end = performance.now() + withinMs; ; await pause(50)) {
      const { stdout, stderr } = await this.run('sinfo', ['-h', '-N', '-o', '%T']);
      const states = stdout.trim().split('\n');
      if (states.length === all && states.every((state) => state === 'idle')) return;
      if (performance.now() > end) {
        throw new Error(`Slurm's nodes are ${states.join(', ')}, not idle: ${stderr}`);
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // slurmd ends its steps in order; what remains ends with its host.
    for (const { child } of [...this.#daemons, this.#controller]) {
      child.kill('SIGCONT');
      child.kill('SIGTERM');
    }
    await this.hosts[Symbol.asyncDispose]();
  }

  #configuration(own: readonly string[]): string {
    const { folder, names } = this.hosts;
    const keyOf = (line: string) => line.split('=')[0]!.toLowerCase();
    const replaced = new Set(own.map(keyOf));
    const usual = [
      'ClusterName=weft',
      `SlurmctldHost=${names[0]}(${this.hosts.address(0)})`,
      'AuthType=auth/none',
      'CredType=cred/none',
      'ProctrackType=proctrack/linuxproc',
      'TaskPlugin=task/none',
      'SlurmdParameters=config_overrides',
      'ReturnToService=2',
      'SwitchType=switch/none',
      'MpiDefault=none',
      'SlurmUser=root',
      // A batch job starts at once, not after three seconds.
      'SchedulerParameters=batch_sched_delay=0,sched_min_interval=0',
      `SlurmctldPidFile=${folder}/slurmctld.pid`,
      `SlurmdPidFile=${folder}/slurmd-%n.pid`,
      `SlurmdSpoolDir=${folder}/spool-%n`,
      // PMIx keeps files of a step there, under the same name on every host.
      `TmpFS=${folder}/tmp-%n`,
      `StateSaveLocation=${folder}/state`,
    ].filter((line) => !replaced.has(keyOf(line)));
    const last = names.length - 1;
    const nodes = `NodeName=h[0-${last}] NodeAddr=10.77.255.[1-${last + 1}] CPUs=8 RealMemory=100`;
    const partition = `PartitionName=all Nodes=h[0-${last}] Default=YES State=UP OverSubscribe=FORCE`;
    return `${[...usual, ...own, nodes, partition].join('\n')}\n`;
  }
}

/** `A=1 B=some words C=` to its fields; a value may hold blanks. */
export const fieldsOf = (line: string): Shown =>
  Object.fromEntries(
    [...line.matchAll(/(?:^|\s)([A-Za-z][\w:/]*)=(.*?)(?=\s+[A-Za-z][\w:/]*=|\s*$)/g)].map(
      ([, key, value]) => [key!, value!],
    ),
  );
