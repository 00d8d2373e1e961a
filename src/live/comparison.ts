import { compareRuns } from '../analysis/compare/compare.js';
import { comparisonParts } from '../results/formats/comparison.js';
import { readRun } from '../results/read-run.js';
import type { RunLog } from './run-log.js';
import type { ComparisonAnswer } from './wire.js';

/** Whole runs are in memory while they are compared, and nobody else is answered meanwhile. */
const mostBytes = 2 ** 26;
const keptAnswers = 16;
const kept = new Map<string, ComparisonAnswer>();

export function compareLogs(a: RunLog, b: RunLog): ComparisonAnswer {
  if (bytesOf(a) + bytesOf(b) > mostBytes) {
    return { problem: 'These runs are too large to compare here; use weft compare.' };
  }
  const [nameA, nameB] = [a.header?.benchmark, b.header?.benchmark];
  if (nameA !== nameB) {
    const names = `${nameA ?? a.key} and ${nameB ?? b.key}`;
    return { problem: `These are runs of different benchmarks (${names}) and cannot be compared.` };
  }
  try {
    return keptOrCompared(a, b);
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

const bytesOf = ({ starts }: RunLog): number => starts.at(-1)!;

/** Worked out again only when one of the files has changed: every viewer asks, and goes on asking while a run grows. */
function keptOrCompared(a: RunLog, b: RunLog): ComparisonAnswer {
  const name = JSON.stringify([a, b].map((log) => [log.path, log.epoch, bytesOf(log)]));
  // From their files: pages have only some of the samples.
  const answer =
    kept.get(name) ?? comparisonParts(compareRuns([readRun(a.path).run], [readRun(b.path).run]));
  kept.set(name, answer);
  const [oldest] = kept.keys();
  if (kept.size > keptAnswers) kept.delete(oldest!);
  return answer;
}
