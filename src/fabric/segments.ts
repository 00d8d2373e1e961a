import { existsSync, readdirSync, readlinkSync, statSync, unlinkSync } from 'node:fs';
import { startTime } from '../native/process.js';

/*
 * The shm provider keeps each endpoint in a file of /dev/shm, and a killed process leaves its files behind. We name
 * ours after the process that owns them, so that a later one can prove them dead:
 * weft-<pid namespace>-<pid>-<start time>-<serial>, to which the provider adds a suffix of its own.
 */
const folder = '/dev/shm';
const pattern = /^weft-(\d+)-(\d+)-(\d+)-\d+(:|$)/;

let serial = 0;

/** A name for one shm endpoint of this process. */
export function segmentName(): string {
  return `weft-${pidNamespace()}-${process.pid}-${startTime(process.pid)}-${serial++}`;
}

/** Removes segments of Weft processes that are gone. Returns their names. */
export function sweepSegments(): string[] {
  const namespace = pidNamespace();
  const swept: string[] = [];
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const [, ns, pid, started] = pattern.exec(name) ?? [];
    // Process numbers of another namespace mean nothing here.
    if (ns !== namespace || startTime(Number(pid)) === started) continue;
    try {
      if (statSync(`${folder}/${name}`).uid !== process.getuid?.()) continue;
      unlinkSync(`${folder}/${name}`);
      swept.push(name);
    } catch {
      // another rank swept it first
    }
  }
  return swept;
}

function pidNamespace(): string {
  return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0';
}
