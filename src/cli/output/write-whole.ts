import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { WeftError } from '../../errors.js';
import { startTime, userSignals } from '../../native/process.js';

/** All of it or nothing: neither a full disk nor a signal leaves half a file, or damages the old one. */
export function writeWhole(
  path: string,
  text: string,
  option: '-o' | '--out' | '--metrics' | '--node-patch' | '--record-traffic',
): void {
  const draft = `${path}${ending(process.pid)}`;
  putOffSignals();
  try {
    removeDrafts(path);
    writeFileSync(draft, text, { flag: 'wx' });
    renameSync(draft, path);
  } catch (cause) {
    try {
      rmSync(draft, { force: true });
    } catch {
      // its name is the trouble
    }
    throw cannotWrite(path, option, cause as NodeJS.ErrnoException);
  }
}

/** A signal that would end this process now ends it when the code that is running has returned. */
function putOffSignals(): void {
  const deadly = userSignals().filter((signal) => process.listenerCount(signal) === 0);
  const end = (signal: NodeJS.Signals) => {
    process.off(signal, end);
    // Somebody who began to listen meanwhile has heard it, too.
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
  };
  for (const signal of deadly) process.on(signal, end);
  const stopListening = () => {
    for (const signal of deadly) process.off(signal, end);
  };
  // The event loop hears of signals once a turn; the first of these may come before that.
  setImmediate(() => setImmediate(stopListening));
}

/** Another host may write to the same folder. */
const ending = (pid: number | string): string => `.${hostname()}-${pid}.tmp`;

/** Removes what processes of this host that were killed have left. */
function removeDrafts(path: string): void {
  const folder = dirname(path);
  for (const name of readdirSync(folder)) {
    const [, pid = ''] = /(\d+)\.tmp$/.exec(name) ?? [];
    if (name !== `${basename(path)}${ending(pid)}`) continue;
    if (startTime(Number(pid)) === undefined) rmSync(join(folder, name), { force: true });
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'part of the path is a file',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENAMETOOLONG: 'the name is too long',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
};

function cannotWrite(path: string, option: string, cause: NodeJS.ErrnoException): WeftError {
  const why = reasons[cause.code ?? ''] ?? cause.message;
  const full = cause.code === 'ENOSPC' || cause.code === 'EDQUOT';
  return new WeftError(full ? 'BAD_FILE' : 'BAD_USAGE', `cannot write ${path}: ${why}`, {
    hint: `${full ? 'Free some space, or choose' : 'Choose'} another path with ${option}.`,
    cause,
  });
}
