import { rowsByKey } from '../../results/row-key.js';
import type { Row, Run } from '../../results/schema.js';

/** One row in every repeat of a run; undefined where a repeat does not have it. */
export type RowOfRun = readonly (Row | undefined)[];

/** The same row in every run of both sides. */
export interface RowPair {
  readonly key: string;
  readonly row: Row;
  readonly a: readonly RowOfRun[];
  readonly b: readonly RowOfRun[];
}

export type Unmeasured = 'broken in A' | 'broken in B' | 'only in A' | 'only in B';

type Repeat = ReadonlyMap<string, Row>;

function repeatsOf(run: Run): Repeat[] {
  const repeats = new Set(run.rows.map((row) => row.repeat ?? 0));
  return [...repeats].map((repeat) => {
    const rows = run.rows.filter((row) => (row.repeat ?? 0) === repeat);
    return new Map([...rowsByKey(rows)].map(([key, [row]]) => [key, row!]));
  });
}

export function pairUp(runsA: readonly Run[], runsB: readonly Run[]): RowPair[] {
  const [sideA, sideB] = [runsA.map(repeatsOf), runsB.map(repeatsOf)];
  const keys = new Set([...sideA, ...sideB].flat().flatMap((repeat) => [...repeat.keys()]));
  const pairs = [...keys].map((key) => {
    const [a, b] = [sideA, sideB].map((side) =>
      side.map((repeats) => repeats.map((repeat) => repeat.get(key))),
    );
    const row = [...a!, ...b!].flat().find((one) => one !== undefined)!;
    return { key, row, a: a!, b: b! };
  });
  // What neither side measured says nothing of either.
  return pairs.filter(({ a, b }) =>
    [...a, ...b].flat().some((row) => isMeasured(row) || isBroken(row)),
  );
}

/** Whether both sides have times to compare. */
export const isComparable = ({ a, b }: RowPair): boolean =>
  [a, b].map((side) => side.flat()).every((side) => isEnough(side) && !side.some(isBroken));

/** A row that half of the repeats do not have says too little of that side. */
const isEnough = (side: readonly (Row | undefined)[]): boolean =>
  side.filter(isMeasured).length * 2 > side.length;
const isMeasured = (row: Row | undefined): boolean =>
  row?.outcome === 'passed' && row.nanoseconds !== null;
const isBroken = (row: Row | undefined): boolean =>
  row?.outcome === 'failed' || row?.outcome === 'aborted';

/** What became of a row that cannot be compared, and why. */
export function unmeasured(pair: RowPair): { verdict: Unmeasured; reason?: string } {
  const [a, b] = [pair.a.flat(), pair.b.flat()];
  const broken = (['B', 'A'] as const).find((side) => (side === 'A' ? a : b).some(isBroken));
  if (broken !== undefined) {
    const { outcome, reason = 'no reason given' } = (broken === 'A' ? a : b).find(isBroken)!;
    return { verdict: `broken in ${broken}`, reason: `${outcome}: ${reason}` };
  }
  const inA = isEnough(a) || !isEnough(b);
  const other = inA ? b : a;
  const reason = other.find((one) => one?.reason)?.reason ?? partly(other);
  const verdict = inA ? 'only in A' : 'only in B';
  return { verdict, ...(reason !== undefined && { reason }) };
}

function partly(side: readonly (Row | undefined)[]): string | undefined {
  const measured = side.filter(isMeasured).length;
  return measured === 0 ? undefined : `measured in ${measured} of ${side.length} repeats`;
}
