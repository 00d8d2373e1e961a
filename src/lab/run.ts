import { randomInt } from 'node:crypto';
import { WeftError } from '../errors.js';
import { type LocalJob, spawnRanks } from '../world/index.js';
import { withDevices } from './efa/hosts.js';
import { hostName, hostSpace, management } from './names.js';
import type { LabSpec, LabState } from './state.js';

export interface LabRun {
  readonly command: string;
  readonly args: readonly string[];
  readonly ranksPerHost: number;
  /** Numbers of the hosts to use; default: all. */
  readonly hosts?: readonly number[] | undefined;
  readonly prefix: boolean;
}

/** The words before a command that make it run on a host, under that host's name. It stays the same process. */
export function enter(
  { name, spec }: Pick<LabState, 'name'> & { readonly spec?: Pick<LabSpec, 'efa'> },
  host: number,
): string[] {
  const become = 'echo "$1" >/proc/sys/kernel/hostname; shift; exec "$@"';
  const inside = ['ip', 'netns', 'exec', hostSpace(name, host), 'unshare', '--uts'];
  const devices = spec?.efa === undefined ? [] : withDevices(name, host);
  return [...inside, 'sh', '-c', become, 'sh', hostName(host), ...devices];
}

/** Starts a command on the hosts of a lab, as the ranks of one job. */
export function startInLab(lab: LabState, run: LabRun): Promise<LocalJob> {
  const hosts = run.hosts ?? Array.from({ length: lab.spec.hosts }, (_, host) => host);
  const strange = hosts.find((host) => host >= lab.spec.hosts);
  if (strange !== undefined) {
    throw new WeftError('BAD_USAGE', `lab ${lab.name} has no host ${hostName(strange)}`, {
      hint: `Hosts are h0 to ${hostName(lab.spec.hosts - 1)}.`,
    });
  }
  return spawnRanks({
    ranks: hosts.length * run.ranksPerHost,
    command: run.command,
    args: run.args,
    prefix: run.prefix,
    hosts: {
      ranksPerHost: run.ranksPerHost,
      enter: (index) => enter(lab, hosts[index]!),
      // Nothing else listens in the namespace of that host, but another run in the same lab may.
      master: { host: management.address(hosts[0]!), port: randomInt(10_000, 30_000) },
    },
  });
}
