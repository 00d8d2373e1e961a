import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  defaultSpec,
  enter,
  type LabSpec,
  type LabState,
  lowerLab,
  raiseLab,
} from '../../src/lab/index.js';
import { hostName, hostSpace, management, nicName, railAddress } from '../../src/lab/names.js';
import { inSpace, labName } from '../lab/laboratory.js';
import { type Finished, type Running, type RunOptions, start } from '../ranks/processes.js';

/** Bytes that one interface of a host has sent and received. */
export interface Carried {
  readonly tx: number;
  readonly rx: number;
}

/**
 * The hosts of a lab as a cluster: each knows the others by name, at their addresses on the management network, and all
 * see the same file system. `folder` is theirs to use and goes with them.
 */
export class LabHosts implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'weft-cluster-'));
  readonly names: readonly string[];
  readonly #state: LabState;
  readonly #hostsFile = join(this.folder, 'hosts');

  /** `what` names the lab: two that are up at once in one test file need two names. */
  static async raise(what: string, spec: Partial<LabSpec> = {}): Promise<LabHosts> {
    const whole = { ...defaultSpec, nics: 2, ...spec };
    return new LabHosts(await raiseLab(labName(what), whole, { owned: true }));
  }

  private constructor(state: LabState) {
    this.#state = state;
    this.names = Array.from({ length: state.spec.hosts }, (_, host) => hostName(host));
    const lines = this.names.map((name, host) => `${management.address(host)} ${name}`);
    writeFileSync(this.#hostsFile, `${['127.0.0.1 localhost', ...lines].join('\n')}\n`);
  }

  address(host: number): string {
    return management.address(host);
  }

  railAddress(host: number, nic: number): string {
    return railAddress(host, nic);
  }

  /** The words before a command that make it run on a host. It stays the same process. */
  inside(host: number): string[] {
    const bind = 'mount --bind "$1" /etc/hosts; shift; exec "$@"';
    return [...enter(this.#state, host), 'sh', '-c', bind, 'sh', this.#hostsFile];
  }

  /** Starts a command on a host. */
  start(host: number, command: string, args: string[], options: RunOptions = {}): Running {
    const [first = '', ...rest] = this.inside(host);
    return start(first, [...rest, command, ...args], options);
  }

  run(host: number, command: string, args: string[], options?: RunOptions): Promise<Finished> {
    return this.start(host, command, args, options).finished;
  }

  /** Waits until something listens on a port of a host. */
  async answers(name: string, port: number): Promise<void> {
    const reach = `for i in $(seq 200); do : 2>/dev/null </dev/tcp/${name}/${port} && exit; sleep 0.05; done; exit 1`;
    const { code } = await this.run(0, 'bash', ['-c', reach]);
    if (code !== 0) throw new Error(`nothing listens on port ${port} of ${name}`);
  }

  /** Starts counting; the result says what each host's rails and its management network have carried since. */
  meter(): () => { rails: Carried[][]; management: Carried[] } {
    const { name, spec } = this.#state;
    const nics = Array.from({ length: spec.nics }, (_, nic) => nicName(nic));
    const all = () =>
      this.names.map((_, host) =>
        [...nics, management.nic].map((nic) => carriedBy(name, host, nic)),
      );
    const before = all();
    return () => {
      const since = all().map((host, h) =>
        host.map(({ tx, rx }, n) => ({ tx: tx - before[h]![n]!.tx, rx: rx - before[h]![n]!.rx })),
      );
      return {
        rails: since.map((host) => host.slice(0, -1)),
        management: since.map((host) => host.at(-1)!),
      };
    };
  }

  /** Ends what runs on the hosts, and removes them. */
  async [Symbol.asyncDispose](): Promise<void> {
    await lowerLab(this.#state.name);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function carriedBy(lab: string, host: number, nic: string): Carried {
  const [link] = JSON.parse(inSpace('ip', hostSpace(lab, host), '-j', '-s', 'link', 'show', nic));
  return { tx: link.stats64.tx.bytes, rx: link.stats64.rx.bytes };
}
