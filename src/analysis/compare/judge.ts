import { combinations, permutationTest } from '../../measure/permutation.js';
import { median } from '../../measure/quantile.js';
import type { Row } from '../../results/schema.js';
import type { Change } from './compare.js';

/** The same row in every block of both sides. */
export interface Measured {
  readonly a: readonly (Row | undefined)[];
  readonly b: readonly (Row | undefined)[];
}

interface Judged {
  readonly change: Change;
  readonly nanosecondsA: number;
  readonly nanosecondsB: number;
  readonly effect: number;
  readonly p: number;
}

/** Two runs of the same thing are called different at most this often. */
const level = 0.01;
/** Pieces that a side's samples are cut into. Samples next to each other depend on each other; pieces hardly do. */
const piecesOfSide = 10;
const fewestPerPiece = 2;

/** Blocks against blocks: significant over all rows together, and more than the tolerance. */
export function judgeInTurns(rows: readonly Measured[], tolerance: number): Judged[] {
  if (rows.length === 0) return [];
  const logs = rows.map(({ a, b }) => ({ a: a.map(logTime), b: b.map(logTime) }));
  const p = permutationTest(logs, rows[0]!.a.length, rows[0]!.b.length);
  return logs.map((sides, row) => {
    const [a, b] = [sides.a, sides.b].map((side) =>
      median(side.filter((one) => one !== undefined)),
    );
    return judged(Math.exp(a!), Math.exp(b!), p[row]!, tolerance);
  });
}

/**
 * One side after the other: nothing here says what the machine did meanwhile, so the tolerance has the allowance for
 * that in it. Besides, every piece of one side must be slower than every piece of the other.
 */
export function judgeApart(rows: readonly Measured[], tolerance: number): Judged[] {
  return rows.map(({ a, b }) => {
    const [piecesA, piecesB] = [piecesOf(a), piecesOf(b)];
    const p = Math.min(1, separation(piecesA, piecesB) * rows.length);
    return judged(median(piecesA), median(piecesB), p, tolerance);
  });
}

const times = (row: Row | undefined): number[] =>
  row?.outcome === 'passed' ? row.samples.map((sample) => sample / row.batch) : [];

function logTime(row: Row | undefined): number | undefined {
  const own = times(row);
  return own.length === 0 ? undefined : Math.log(Math.max(1e-3, median(own)));
}

function judged(a: number, b: number, p: number, tolerance: number): Judged {
  const effect = b / a - 1;
  const slower = effect > tolerance;
  // As much faster as the tolerance is slower: the ratio turned round.
  const faster = a / b - 1 > tolerance;
  const change = p <= level && slower ? 'slower' : p <= level && faster ? 'faster' : 'same';
  return { change, nanosecondsA: a, nanosecondsB: b, effect, p };
}

/** Probability that pieces in random order would separate this cleanly; 1 when they do not. */
function separation(a: readonly number[], b: readonly number[]): number {
  const apart = Math.max(...a) < Math.min(...b) || Math.max(...b) < Math.min(...a);
  return apart ? 2 / combinations(a.length + b.length, a.length) : 1;
}

/** Medians of consecutive samples, about ten of them: of one block, or some of each of several. */
function piecesOf(rows: readonly (Row | undefined)[]): number[] {
  const blocks = rows.map(times).filter((own) => own.length > 0);
  const wanted = Math.ceil(piecesOfSide / blocks.length);
  return blocks.flatMap((samples) => {
    const count = Math.max(1, Math.min(wanted, Math.floor(samples.length / fewestPerPiece)));
    return Array.from({ length: count }, (_, i) => {
      const from = Math.floor((i * samples.length) / count);
      return median(samples.slice(from, Math.floor(((i + 1) * samples.length) / count)));
    });
  });
}
