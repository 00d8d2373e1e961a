import { type Comparison, compareRuns } from '../analysis/compare/compare.js';
import { earlierRunOf } from '../analysis/compare/earlier-runs.js';
import { groupBy } from '../measure/group.js';
import { byRank } from '../results/large-matrix.js';
import type { Run } from '../results/schema.js';
import { runNames } from './run-names.js';

/** A run against the first of its benchmark, as `weft compare` judges it: data to show, nothing to judge again. */
export interface Against {
  readonly benchmark: string;
  readonly names: readonly [a: string, b: string];
  readonly comparison: Comparison;
}

/** Every run against the first of its benchmark; the others of them tell how much runs differ by themselves. */
export function comparisonsOf(read: readonly Run[]): Against[] {
  const runs = read.length > 1 ? read.map(byRank) : read;
  return [...groupBy(runs, (run) => run.benchmark)].flatMap(([benchmark, group]) => {
    const [first, ...others] = group;
    if (others.length === 0) return [];
    const history = group.map(earlierRunOf);
    const [firstName, ...names] = runNames(group);
    return others.map((run, i) => ({
      benchmark,
      names: [firstName!, names[i]!] as const,
      comparison: compareRuns([first!], [run], { history }),
    }));
  });
}
