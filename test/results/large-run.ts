import type { Row, Run } from '../../src/results/schema.js';
import { runOf, sampleRow } from './fixtures.js';

export const slowRank = 7;
export const slowPair = { from: 3, to: 100 } as const;

/** A run of `pairs` among so many ranks, with one slow rank and one slow pair. Rows share what they can. */
export function largeRun(ranks: number): Run {
  const usual = rowOf(100);
  const slow = rowOf(180);
  const slowest = rowOf(300);
  const rows: Row[] = [];
  for (let from = 0; from < ranks; from++) {
    for (let to = 0; to < ranks; to++) {
      if (from === to) continue;
      const pair = from === slowPair.from && to === slowPair.to;
      const row = pair ? slowest : from === slowRank || to === slowRank ? slow : usual;
      rows.push({ ...row, labels: { memory: 'pinned', from, to } });
    }
  }
  const hostOfRank = Array.from({ length: ranks }, (_, rank) => `h${rank}`);
  const world = { ranks, hosts: hostOfRank, hostOfRank, launcher: 'slurm' };
  return runOf(rows, { id: `pairs-${ranks}`, benchmark: 'pairs', world });
}

const rowOf = (us: number): Row =>
  sampleRow({ kind: 'pair', column: 'Bandwidth', bytes: 1_000_000, us });

/** The same as a run file holds it. */
export function* linesOf({ rows, endedAt, outcome, errors, ...header }: Run): Generator<string> {
  yield `${JSON.stringify({ line: 'header', ...header })}\n`;
  for (const row of rows) yield `${JSON.stringify({ line: 'row', ...row })}\n`;
  yield `${JSON.stringify({ line: 'footer', endedAt, outcome, errors })}\n`;
}
