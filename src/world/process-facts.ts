import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Identity } from './identity.js';
import type { Member } from './rendezvous/messages.js';

export const describeSelf = (identity: Identity): Member => ({
  rank: identity.rank,
  localRank: identity.localRank,
  host: hostname(),
  bootId: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
  netns: readlinkSync('/proc/self/ns/net'),
  pid: process.pid,
});

export function ancestors(): { pid: number; name: string }[] {
  const above: { pid: number; name: string }[] = [];
  for (let pid = process.ppid; pid > 1 && above.length < 64; ) {
    let stat: string;
    try {
      stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    } catch {
      break; // hidden or gone
    }
    // pid (name) state ppid …; the name may itself hold parentheses.
    const end = stat.lastIndexOf(')');
    above.push({ pid, name: stat.slice(stat.indexOf('(') + 1, end) });
    pid = Number(stat.slice(end + 2).split(' ')[1]);
  }
  return above;
}
