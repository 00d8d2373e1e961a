import { compareRuns } from '../analysis/compare/compare.js';
import { earlierRunsOf } from '../analysis/compare/indexed-runs.js';
import { comparisonParts } from '../results/formats/comparison.js';
import { readOwnFile } from '../results/open-file.js';
import { readRun } from '../results/read-run.js';
import type { IndexedRun } from '../results/run-index.js';
import type { Run } from '../results/schema.js';
import type { RunLog } from './run-log.js';
import type { ComparisonAnswer } from './wire.js';

/** Whole runs are in memory while they are compared, and nobody else is answered meanwhile. */
const mostBytes = 2 ** 26;
const keptAnswers = 16;
const kept = new Map<string, ComparisonAnswer>();

/** `runs` are those of the folder: they tell how much runs differ by themselves. */
export function compareLogs(a: RunLog, b: RunLog, runs: readonly IndexedRun[]): ComparisonAnswer {
  if (bytesOf(a) + bytesOf(b) > mostBytes) {
    return { problem: 'These runs are too large to compare here; use weft compare.' };
  }
  const [nameA, nameB] = [a.header?.benchmark, b.header?.benchmark];
  if (nameA !== nameB) {
    const names = `${nameA ?? a.key} and ${nameB ?? b.key}`;
    return { problem: `These are runs of different benchmarks (${names}) and cannot be compared.` };
  }
  try {
    return keptOrCompared(a, b, runs);
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

const bytesOf = ({ starts }: RunLog): number => starts.at(-1)!;

/** Worked out again only when one of the files has changed: every viewer asks, and goes on asking while a run grows. */
function keptOrCompared(a: RunLog, b: RunLog, runs: readonly IndexedRun[]): ComparisonAnswer {
  const parts = [a, b].map((log) => [log.path, log.epoch, bytesOf(log)]);
  const name = JSON.stringify([...parts, runs.length]);
  // From their files: pages have only some of the samples.
  const read = ({ path }: RunLog) => readRun(path, readOwnFile).run;
  const answer = kept.get(name) ?? compared(read(a), read(b), runs);
  kept.set(name, answer);
  const [oldest] = kept.keys();
  if (kept.size > keptAnswers) kept.delete(oldest!);
  return answer;
}

function compared(a: Run, b: Run, runs: readonly IndexedRun[]): ComparisonAnswer {
  const history = earlierRunsOf(runs, a.benchmark);
  return comparisonParts(compareRuns([a], [b], { history }));
}
