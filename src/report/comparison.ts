import { type Comparison, compareRuns } from '../analysis/compare/compare.js';
import { groupBy } from '../measure/group.js';
import type { Run } from '../results/schema.js';
import { runNames } from './run-names.js';

/** A run against the first of its benchmark, as `weft compare` judges it: data to show, nothing to judge again. */
export interface Against {
  readonly benchmark: string;
  readonly names: readonly [a: string, b: string];
  readonly comparison: Comparison;
}

/** Every run against the first of its benchmark; runs as they were read, since their repeats tell how runs differ. */
export function comparisonsOf(runs: readonly Run[]): Against[] {
  return [...groupBy(runs, (run) => run.benchmark)].flatMap(([benchmark, group]) => {
    const [first, ...others] = group;
    const [firstName, ...names] = runNames(group);
    return others.map((run, i) => ({
      benchmark,
      names: [firstName!, names[i]!] as const,
      comparison: compareRuns([first!], [run]),
    }));
  });
}
