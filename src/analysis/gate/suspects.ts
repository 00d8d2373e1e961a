import type { NodeGrade } from './gate.js';
import { expectationFor, type GateCell, type GateFacts, gradeOf } from './judge.js';

/** A pair and a rail to measure again with everyone else idle. */
export interface Suspect {
  readonly pair: readonly [number, number];
  readonly rail: number;
}

/**
 * A rank that is slow with all its peers meets one that is not; a pair that is slow between two healthy ranks meets
 * again.
 */
export function suspectsOf(facts: GateFacts): Suspect[] {
  const { nodes, nics, cells } = facts;
  return nics.flatMap((_, rail) => {
    const onRail = cells.filter((cell) => cell.rail === rail);
    const ranks = [...new Set(onRail.flatMap(({ from, to }) => [from, to]))];
    const gradeAt = (cell: GateCell): NodeGrade => {
      const expected = expectationFor(nodes[cell.from]!, rail, facts);
      return expected === undefined ? 'pass' : gradeOf(cell.gbps, expected);
    };
    const isWeak = (cell: GateCell) => gradeAt(cell) !== 'pass';
    const bad = ranks.filter((rank) =>
      (['from', 'to'] as const).some((end) => onRail.filter((c) => c[end] === rank).every(isWeak)),
    );
    const alone = bad.flatMap((rank): Suspect[] => {
      const [peer] = [...ranks.filter((one) => !bad.includes(one)), ...bad]
        .filter((one) => nodes[one] !== nodes[rank])
        .sort((a, b) => met(onRail, rank, a) - met(onRail, rank, b));
      return peer === undefined ? [] : [{ pair: [rank, peer], rail }];
    });
    const pairs = onRail
      .filter(
        (cell) => gradeAt(cell) === 'fail' && !bad.includes(cell.from) && !bad.includes(cell.to),
      )
      .map(({ from, to }): Suspect => ({ pair: [from, to], rail }));
    return [...alone, ...pairs];
  });
}

const met = (cells: readonly GateCell[], a: number, b: number): number =>
  cells.filter(({ from, to }) => from === a && to === b).length;
