import { lstat, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { EntryMaker, type FileStamp, type SharedParts } from './index-entry.js';
import type { Entry } from './index-lines.js';
import { readOwnFile } from './open-file.js';
import { glanceAt } from './run-glance.js';
import { eachLine, limits } from './run-lines.js';

export const runFileEnding = '.jsonl';
const filesAtOnce = 16;

/**
 * Every file that may hold a run. Links and pipes are left alone: only what lies in this folder counts. Files whose
 * stamp is `known` are not looked at.
 */
export async function stampsOf(
  folder: string,
  known: (file: string) => FileStamp | undefined,
): Promise<FileStamp[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isFile() && !entry.name.startsWith('.'));
  const stamps = names.flatMap(({ name }) => known(name) ?? []);
  const others = names.filter(({ name }) => known(name) === undefined);
  await inParallel(others, async ({ name: file }) => {
    const found = await lstat(join(folder, file)).catch(() => undefined);
    if (!found?.isFile()) return;
    stamps.push({ file, bytes: found.size, modifiedMs: found.mtimeMs });
  });
  return stamps;
}

/** Some at a time, all of them. */
export async function inParallel<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const left = items.values();
  const worker = async () => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: filesAtOnce }, worker));
}

/** Throws what the system throws; what is wrong with the content makes it a skipped file. */
export async function readEntry(
  folder: string,
  stamp: FileStamp,
  parts: SharedParts,
): Promise<Entry> {
  if (stamp.bytes > limits.fileBytes) return { ...stamp, skipped: 'too large' };
  const path = join(folder, stamp.file);
  if (!stamp.file.endsWith(runFileEnding) && !(await beginsLikeRun(path))) return foreign(stamp);
  const maker = new EntryMaker();
  const file = await open(path, readOwnFile);
  let line = 0;
  try {
    await eachLine(file, 0, stamp.bytes, ({ kind, bytes, lines }) => {
      line += lines;
      if (kind === 'line') maker.take(glanceAt(bytes));
    });
  } catch (error) {
    if (isSystemError(error)) throw error;
    return line > 1 ? { ...stamp, skipped: `damaged at line ${line}` } : foreign(stamp);
  } finally {
    await file.close();
  }
  return maker.finish(stamp, parts) ?? foreign(stamp);
}

const foreign = (stamp: FileStamp): Entry => ({ ...stamp, skipped: 'not a run file' });

export const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'syscall' in error;

const firstBytes = '{"line":"header","schema":"weft.run/';

/** `--out` takes any name. */
export async function beginsLikeRun(path: string): Promise<boolean> {
  try {
    const file = await open(path, readOwnFile);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(firstBytes.length), 0);
      return bytesRead === firstBytes.length && buffer.toString() === firstBytes;
    } finally {
      await file.close();
    }
  } catch {
    return false;
  }
}
