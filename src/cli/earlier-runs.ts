import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { CompareOptions } from '../analysis/compare/compare.js';
import { earlierRunsOf } from '../analysis/compare/indexed-runs.js';
import { messageOf, WeftError } from '../errors.js';
import { readRunIndex } from '../results/run-index.js';
import type { Run } from '../results/schema.js';

interface Given {
  readonly history?: string;
  /** In percent. */
  readonly drift?: number;
}

/** Before anything is measured. */
export function refuseNoise({ history, drift }: Given): void {
  if (history === undefined) return;
  if (drift !== undefined) {
    throw new WeftError('BAD_USAGE', '--history has no effect with --drift', {
      hint: 'Leave one of them out.',
    });
  }
  if (existsSync(history) && statSync(history).isDirectory()) return;
  throw new WeftError('BAD_USAGE', `--history: ${history} is not a folder`, {
    hint: 'Name a folder of run files, such as weft-results.',
  });
}

/** What is known about noise: what the user says, or the runs of a folder, by default that of A's first run. */
export async function noiseFrom(
  { history, drift }: Given,
  firstPath: string,
  { benchmark }: Run,
): Promise<Pick<CompareOptions, 'history' | 'unreadHistory' | 'drift'>> {
  if (drift !== undefined) return { drift: drift / 100 };
  const folder = history ?? dirname(firstPath);
  try {
    const { runs } = await readRunIndex(folder);
    return { history: earlierRunsOf(runs, benchmark) };
  } catch (error) {
    // What was measured by now must not be lost.
    return { unreadHistory: `${folder}: ${messageOf(error)}` };
  }
}
