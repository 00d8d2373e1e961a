import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { startTime } from '../native/process.js';
import { packageRoot } from '../package-root.js';
import type { Identity } from './identity.js';
import type { Member } from './rendezvous/messages.js';

/** Of Weft. */
export const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
  version: string;
};

export const describeSelf = (identity: Identity): Member => ({
  rank: identity.rank,
  localRank: identity.localRank,
  host: hostname(),
  bootId: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
  netns: readlinkSync('/proc/self/ns/net'),
  pid: process.pid,
});

const sameMomentTicks = 200;

/** Other processes that were started with this command line by the same parent within 2 s. */
export function twins(): number[] {
  const { pid, ppid } = process;
  const started = Number(startTime(pid));
  const mine = commandLine(pid);
  return read(`${ppid}/task/${ppid}/children`)
    .split(' ')
    .map(Number)
    .filter((other) => other > 0 && other !== pid && commandLine(other) === mine)
    .filter((other) => Math.abs(Number(startTime(other)) - started) < sameMomentTicks);
}

const commandLine = (pid: number): string => read(`${pid}/cmdline`);

/** A file of /proc; empty where the process is gone or hidden. */
function read(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'utf8');
  } catch {
    return '';
  }
}

export function ancestors(): { pid: number; name: string }[] {
  const above: { pid: number; name: string }[] = [];
  for (let pid = process.ppid; pid > 1 && above.length < 64; ) {
    const stat = read(`${pid}/stat`);
    if (stat === '') break; // hidden or gone
    // pid (name) state ppid …; the name may itself hold parentheses.
    const end = stat.lastIndexOf(')');
    above.push({ pid, name: stat.slice(stat.indexOf('(') + 1, end) });
    pid = Number(stat.slice(end + 2).split(' ')[1]);
  }
  return above;
}
