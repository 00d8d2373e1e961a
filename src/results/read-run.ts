import { constants } from 'node:buffer';
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { WeftError } from '../errors.js';
import { linesOf, tooLongText } from './run-lines.js';
import { parseLine, type ReadRun, RunReader } from './run-reader.js';
import { type Row, type Run, runSchema } from './schema.js';

export type { ReadRun } from './run-reader.js';

/**
 * Reads a run file, or one object as `--format json` prints it. Of pairs among many ranks (see large-matrix.ts) the
 * samples stay on disk: `samples` of those rows is empty. `flags` are those of opening it.
 */
export function readRun(path: string, flags: string | number = 'r'): ReadRun {
  let fd: number | undefined;
  try {
    fd = openSync(path, flags);
    return readOpen(fd, path);
  } catch (cause) {
    if (cause instanceof WeftError) throw cause;
    const missing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    throw new WeftError('BAD_FILE', `${path} ${missing ? 'does not exist' : 'cannot be read'}`, {
      hint: 'Name a run file, such as one in weft-results/.',
      cause,
    });
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function readOpen(fd: number, path: string): ReadRun {
  const stat = fstatSync(fd);
  if (!stat.isFile() || !beginsWithLine(fd, stat.size)) {
    if (stat.size > constants.MAX_STRING_LENGTH) throw tooLarge(path);
    return parseRun(readFileSync(fd, 'utf8'), path);
  }
  const reader = new RunReader(path);
  for (const cut of linesOf(fd, stat.size)) reader.takeCut(cut);
  return reader.finish();
}

/** The rows of a run file with their samples, one at a time. Throws where a line is damaged. */
export function* rowsInFile(path: string): Generator<Row> {
  const fd = openSync(path, 'r');
  try {
    for (const { kind, bytes } of linesOf(fd, fstatSync(fd).size)) {
      if (kind === 'too long') throw new WeftError('BAD_FILE', `${path}: a line is ${tooLongText}`);
      const parsed = kind === 'blank' ? undefined : parseLine(bytes.toString());
      if (parsed?.line !== 'row') continue;
      const { line: _, ...row } = parsed;
      yield row;
    }
  } finally {
    closeSync(fd);
  }
}

const longestHeader = 2 ** 24;

/** Whether the file begins with a line that is an object by itself, and not a whole run. */
function beginsWithLine(fd: number, size: number): boolean {
  const bytes = Buffer.alloc(Math.min(size, longestHeader));
  const read = bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, 0));
  const begin = read.subarray(read.findIndex((byte) => byte > 0x20));
  const end = begin.indexOf(0x0a);
  try {
    const json: unknown = JSON.parse(begin.toString('utf8', 0, Math.max(0, end)));
    return typeof json === 'object' && json !== null && !('rows' in json);
  } catch {
    return false;
  }
}

const tooLarge = (path: string): WeftError =>
  new WeftError('BAD_FILE', `${path} is a single JSON object that is too large to read`, {
    hint: 'Use the run file in weft-results/, which Weft reads line by line.',
  });

/** `name` is what errors call the text. Throws when not even the header can be read. */
export function parseRun(text: string, name = 'the run'): ReadRun {
  const whole = wholeRun(text);
  if (whole !== undefined) return { run: whole, damage: undefined };

  const lines = text.split('\n');
  // What follows the last newline is a line in flight when its writer died: lost, but no damage.
  lines.pop();
  const reader = new RunReader(name);
  for (const line of lines.length > 0 ? lines : [text]) reader.take(line);
  return reader.finish();
}

function wholeRun(text: string): Run | undefined {
  try {
    return runSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
