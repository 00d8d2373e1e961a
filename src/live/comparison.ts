import { compareRuns } from '../results/compare/compare.js';
import { comparisonParts } from '../results/formats/comparison.js';
import { readRun } from '../results/read-run.js';
import type { RunLog } from './run-log.js';
import type { ComparisonAnswer } from './wire.js';

/** Whole runs are in memory while they are compared. */
const mostBytes = 2 ** 28;

/** What `weft compare` says of two runs. From their files: pages have only some of the samples. */
export function compareLogs(a: RunLog, b: RunLog): ComparisonAnswer {
  if (a.starts.at(-1)! + b.starts.at(-1)! > mostBytes) {
    return { problem: 'These runs are too large to be compared here; use weft compare.' };
  }
  try {
    const [runA, runB] = [readRun(a.path).run, readRun(b.path).run];
    if (runA.benchmark === runB.benchmark) return comparisonParts(compareRuns([runA], [runB]));
    const names = `${runA.benchmark} and ${runB.benchmark}`;
    return {
      problem: `These are different benchmarks, ${names}: their rows say nothing about each other.`,
    };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}
