import { readdir, readlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import type { RunLog } from './run-log.js';

/** A writer that we cannot see may be on another host, or another user's: it gets this long between two rows. */
const unseenMs = 120_000;
/** Who wrote this lately is believed to go on. */
const freshMs = 5_000;

/** Marks the runs without a footer that nobody writes to any more. Their own growth alone makes them live again. */
export async function markAbandoned(logs: readonly RunLog[], nowMs = Date.now()): Promise<void> {
  // Rows came lately: somebody writes, and the processes of this machine need not be looked through.
  const quiet = (log: RunLog) => nowMs - log.modifiedMs > freshMs;
  const open = logs.filter((log) => !log.ended && !log.abandoned && quiet(log));
  if (open.length === 0) return;
  const held = await heldFiles(new Set(open.map((log) => log.path)));
  for (const log of open) {
    const patienceMs = wouldBeSeen(log) ? freshMs : unseenMs;
    log.setAbandoned(!held.has(log.path) && nowMs - log.modifiedMs > patienceMs);
  }
}

/** Whether a writer would be a process of this host whose files we may look at. */
function wouldBeSeen({ header, ownerUid }: RunLog): boolean {
  const us = process.getuid?.();
  const here = (header?.world.hosts ?? []).every((host) => host === hostname());
  return here && (us === 0 || us === ownerUid);
}

async function heldFiles(wanted: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const held = new Set<string>();
  const processes = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  for (const pid of processes) {
    const folder = `/proc/${pid}/fd`;
    for (const fd of await readdir(folder).catch(unless([]))) {
      const target = await readlink(`${folder}/${fd}`).catch(unless(''));
      if (wanted.has(target)) held.add(target);
    }
    if (held.size === wanted.size) break;
  }
  return held;
}

/** A process may end meanwhile, or be another user's. Any other error would make a writer look gone. */
const unless =
  <Value>(nothing: Value) =>
  (error: NodeJS.ErrnoException): Value => {
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(error.code ?? '')) return nothing;
    throw error;
  };
