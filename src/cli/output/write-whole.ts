import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { WeftError } from '../../errors.js';
import { startTime } from '../../native/process.js';

/** All of it or nothing: a full disk leaves neither half a file nor the old one damaged. */
export function writeWhole(
  path: string,
  text: string,
  option: '-o' | '--out' | '--metrics' | '--node-patch' | '--record-traffic',
): void {
  const draft = `${path}${ending(process.pid)}`;
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
