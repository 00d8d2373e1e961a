import { readFileSync } from 'node:fs';
import { messageOf, WeftError } from '../../errors.js';
import { type ByteMatrix, parseMatrix } from '../../plan/byte-matrix.js';
import { type Dtype, elementBytesOf } from './dtype.js';

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

/** Reads bytes from each rank to each rank, in whole elements; sizes may have K, M or G. */
export function readMatrix(path: string, dtype: Dtype): ByteMatrix {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new WeftError('BAD_USAGE', `cannot read the matrix ${path}: ${messageOf(cause)}`, {
      hint: 'Name a CSV file with one line per sending rank: the bytes to each rank.',
      cause,
    });
  }
  return parseElements(text, path, dtype);
}

export const parseElements = (text: string, path: string, dtype: Dtype): ByteMatrix =>
  parseMatrix(text, path, (bytes, where) => {
    const size = elementBytesOf(dtype);
    if (bytes % size === 0) return;
    const what = `is not a multiple of ${size} bytes, the size of one ${dtype}`;
    throw new WeftError('BAD_USAGE', `${where} ${what}`, {
      hint: `Use multiples of ${size}, or another \`dtype\`.`,
    });
  });

export function checkMatrixWorld(matrix: ByteMatrix, path: string, world: number): void {
  if (matrix.length === world) return;
  throw new WeftError(
    'BAD_USAGE',
    `${path} is for ${matrix.length} ranks, but this run has ${world}`,
    { hint: `Start ${matrix.length} ranks, or use a matrix with ${world} rows and columns.` },
  );
}
