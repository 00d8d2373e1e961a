// One set-up at a time per checkout. The lock is a file that names its holder by process id and start
// time, so a lock left behind by a killed process is recognised even when its id has been used again.
import { linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const pollMs = 100;
const abandonedMs = 10_000;

/** Waits for the lock and resolves with a function that gives it back. `onWait(pid)` is called once if it must wait. */
export async function takeLock(file, { onWait = () => {} } = {}) {
  mkdirSync(dirname(file), { recursive: true });
  let waited = false;
  while (!create(file)) {
    const holder = readHolder(file);
    if (holder !== undefined && !isAlive(holder)) {
      removeStale(file);
      continue;
    }
    if (!waited && holder !== undefined) onWait(holder.pid);
    waited = true;
    await sleep(pollMs);
  }
  return () => rmSync(file, { force: true });
}

/** Links a finished file into place, so nobody ever reads a lock that is only half written. */
function create(file) {
  const mine = `${file}.${process.pid}`;
  writeFileSync(mine, JSON.stringify({ pid: process.pid, started: startOf(process.pid) }));
  try {
    linkSync(mine, file);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(mine, { force: true });
  }
}

/** Only the one who holds `file.removing` may remove, and looks again first: the lock may be a new, live one by then. */
function removeStale(file) {
  const removing = `${file}.removing`;
  if (!create(removing)) {
    if (ageMs(removing) > abandonedMs) rmSync(removing, { force: true });
    return;
  }
  try {
    const holder = readHolder(file);
    if (holder !== undefined && !isAlive(holder)) rmSync(file, { force: true });
  } finally {
    rmSync(removing, { force: true });
  }
}

function readHolder(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

function isAlive({ pid, started }) {
  const now = startOf(pid);
  return now !== undefined && now === started;
}

/** Field 22 of /proc/PID/stat; the program's name before it may contain anything but ends at the last parenthesis. */
function startOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}

function ageMs(file) {
  try {
    return Date.now() - statSync(file).mtimeMs;
  } catch {
    return 0;
  }
}
