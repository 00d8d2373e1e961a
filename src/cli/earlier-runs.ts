import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CompareOptions } from '../analysis/compare/compare.js';
import { type EarlierRun, earlierRunOf } from '../analysis/compare/earlier-runs.js';
import { WeftError } from '../errors.js';
import { readRun } from '../results/read-run.js';

type NoiseKnown = Pick<CompareOptions, 'history' | 'drift'>;

/** The newest so many are read: enough to know how much runs differ. */
const mostRuns = 300;

/** The finished runs of a folder, as far as they can be read: nobody named them one by one. */
function readEarlierRuns(folder: string): EarlierRun[] {
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
    .slice(-mostRuns);
  return names.flatMap((name) => {
    try {
      const { run } = readRun(join(folder, name));
      return run.outcome === 'aborted' ? [] : [earlierRunOf(run)];
    } catch {
      return [];
    }
  });
}

interface Given {
  readonly history?: string;
  /** In percent. */
  readonly drift?: number;
}

/** What is known about noise: what the user says, or the runs of a folder, by default that of the first run. */
export function noiseFrom({ history, drift }: Given, firstRun: string): NoiseKnown {
  if (drift === undefined) return { history: historyIn(history, firstRun) };
  if (history === undefined) return { drift: drift / 100 };
  throw new WeftError('BAD_USAGE', '--history has no effect with --drift', {
    hint: 'Leave one of them out.',
  });
}

function historyIn(named: string | undefined, firstRun: string): EarlierRun[] {
  try {
    return readEarlierRuns(named ?? dirname(firstRun));
  } catch (cause) {
    if (named === undefined) return [];
    throw new WeftError('BAD_USAGE', `--history: ${named} is not a readable folder`, {
      hint: 'Name a folder of run files, such as weft-results.',
      cause,
    });
  }
}
