import { randomInt } from 'node:crypto';
import { type LocalJob, spawnRanks } from '../world/index.js';
import { withDevices } from './efa/hosts.js';
import { hostName, hostSpace, management } from './names.js';
import type { LabSpec, LabState } from './state.js';

export interface LabRun {
  readonly command: string;
  readonly args: readonly string[];
  readonly ranksPerHost: number;
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

/** Starts a command on every host of a lab, as the ranks of one job. */
export function startInLab(lab: LabState, run: LabRun): Promise<LocalJob> {
  return spawnRanks({
    ranks: lab.spec.hosts * run.ranksPerHost,
    command: run.command,
    args: run.args,
    prefix: run.prefix,
    hosts: {
      ranksPerHost: run.ranksPerHost,
      enter: (host) => enter(lab, host),
      // Nothing else listens in the namespace of host 0, but another run in the same lab may.
      master: { host: management.address(0), port: randomInt(10_000, 30_000) },
    },
  });
}
