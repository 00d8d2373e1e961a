import { messageOf, WeftError } from '../errors.js';
import { parseBytes } from '../measure/units.js';
import { lineError, linesOf } from './text-lines.js';

/** Bytes from each rank (row) to each rank (column). */
export type ByteMatrix = readonly (readonly number[])[];

const shape = 'Write one line per sending rank: the bytes to each rank, separated by commas.';

const bad = (path: string, what: string, hint = shape): WeftError =>
  new WeftError('BAD_USAGE', `${path}: ${what}`, { hint });

/** Reads a matrix; sizes may have K, M or G. `path` names it in errors; `check` says what is wrong with an entry. */
export function parseMatrix(
  text: string,
  path: string,
  check: (bytes: number, where: string) => void = () => {},
): ByteMatrix {
  const rows = linesOf(text).map((line) =>
    line.text.split(',').map((cell) => {
      const bytes = cellBytes(cell.trim(), line.where, path);
      check(bytes, `${path}, ${line.where}: ${cell.trim()}`);
      return bytes;
    }),
  );
  if (rows.length === 0) throw bad(path, 'the matrix is empty');
  const uneven = rows.findIndex((row) => row.length !== rows.length);
  if (uneven >= 0) {
    const what = `${rows.length} rows, but row ${uneven + 1} has ${rows[uneven]!.length} columns`;
    throw bad(path, `the matrix is not square: ${what}`);
  }
  if (rows.every((row) => row.every((bytes) => bytes === 0))) {
    const hint = 'Set at least one entry above 0.';
    throw bad(path, 'every entry is 0: there is nothing to exchange', hint);
  }
  return rows;
}

function cellBytes(cell: string, where: string, path: string): number {
  const wrong = (what: string) => lineError(path, where, what, shape);
  if (/^-/.test(cell)) throw wrong(`${cell} is negative`);
  if (!/^\d/.test(cell)) throw wrong(`"${cell}" is not a number of bytes`);
  try {
    return parseBytes(cell);
  } catch (cause) {
    throw wrong(messageOf(cause));
  }
}
