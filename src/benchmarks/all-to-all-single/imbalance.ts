import { readFileSync } from 'node:fs';
import { messageOf, WeftError } from '../../errors.js';
import { parseBytes } from '../../measure/units.js';
import { type Dtype, elementBytesOf } from './dtype.js';
import type { ByteMatrix } from './exchange.js';

/** `zipf:1.2` gives 1.2. */
export function parseImbalance(text: string): number {
  const match = /^zipf:(.*)$/.exec(text.trim());
  const exponent = match ? Number(match[1]) : Number.NaN;
  if (match?.[1]?.trim() && Number.isFinite(exponent) && exponent >= 0) return exponent;
  throw new WeftError('BAD_USAGE', `"${text}" is not a valid imbalance`, {
    hint: 'Write zipf:S with S of 0 (even) or more. zipf:1.2 resembles the load of MoE experts.',
  });
}

/**
 * Every rank sends world × `bytes` in all, and of that to rank j a share in proportion to 1 / (j + 1)^exponent: as with
 * experts, all ranks favour the same few. Shares are whole elements; what rounding leaves goes to the first ranks.
 */
export function zipfMatrix(
  world: number,
  bytes: number,
  exponent: number,
  dtype: Dtype,
): ByteMatrix {
  const size = elementBytesOf(dtype);
  const elements = (bytes / size) * world;
  const weights = Array.from({ length: world }, (_, rank) => (rank + 1) ** -exponent);
  const whole = weights.reduce((total, weight) => total + weight, 0);
  const shares = weights.map((weight) => Math.floor((elements * weight) / whole));
  let left = elements - shares.reduce((total, share) => total + share, 0);
  for (let rank = 0; left > 0; rank = (rank + 1) % world, left--) shares[rank]!++;
  const row = shares.map((share) => share * size);
  return Array.from({ length: world }, () => [...row]);
}

const shape = 'Write one line per sending rank: the bytes to each rank, separated by commas.';

const bad = (path: string, what: string, hint = shape): WeftError =>
  new WeftError('BAD_USAGE', `${path}: ${what}`, { hint });

/** Reads bytes from each rank to each rank; sizes may have K, M or G. Empty lines and `#` lines are left out. */
export function readMatrix(path: string, dtype: Dtype): ByteMatrix {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new WeftError('BAD_USAGE', `cannot read the matrix ${path}: ${why}`, {
      hint: shape,
      cause,
    });
  }
  return parseMatrix(text, path, dtype);
}

export function parseMatrix(text: string, path: string, dtype: Dtype): ByteMatrix {
  const rows = text
    .split(/\r?\n/)
    .map((line, index) => ({ line: line.trim(), number: index + 1 }))
    .filter(({ line }) => line !== '' && !line.startsWith('#'))
    .map(({ line, number }) =>
      line.split(',').map((cell) => cellBytes(cell.trim(), `line ${number}`, path, dtype)),
    );
  if (rows.length === 0) throw bad(path, 'the matrix is empty');
  const uneven = rows.findIndex((row) => row.length !== rows.length);
  if (uneven >= 0) {
    const what = `${rows.length} rows, but row ${uneven + 1} has ${rows[uneven]!.length} columns`;
    throw bad(path, `the matrix is not square: ${what}`);
  }
  if (rows.every((row) => row.every((bytes) => bytes === 0))) {
    throw bad(
      path,
      'every entry is 0: there is nothing to exchange',
      'Set at least one entry above 0.',
    );
  }
  return rows;
}

function cellBytes(cell: string, where: string, path: string, dtype: Dtype): number {
  const plain = /^-/.test(cell)
    ? `${where}: ${cell} is negative`
    : /^\d/.test(cell)
      ? undefined
      : `${where}: "${cell}" is not a number of bytes`;
  if (plain !== undefined) throw bad(path, plain);
  let bytes: number;
  try {
    bytes = parseBytes(cell, where);
  } catch (cause) {
    throw bad(path, messageOf(cause));
  }
  const size = elementBytesOf(dtype);
  if (bytes % size === 0) return bytes;
  const what = `${where}: ${cell} is not a multiple of ${size} bytes, the size of one ${dtype}`;
  throw bad(path, what, `Use multiples of ${size}, or another \`dtype\`.`);
}

export function checkMatrixWorld(matrix: ByteMatrix, path: string, world: number): void {
  if (matrix.length === world) return;
  throw new WeftError(
    'BAD_USAGE',
    `${path} is for ${matrix.length} ranks, but this run has ${world}`,
    { hint: `Start ${matrix.length} ranks, or use a matrix with ${world} rows and columns.` },
  );
}
