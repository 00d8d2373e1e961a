import { extname, resolve } from 'node:path';
import { WeftError } from '../errors.js';
import { readRun } from '../results/read-run.js';
import type { Run } from '../results/schema.js';
import { printError } from './output/print.js';

/** The runs that these files hold. What is damaged is said on stderr and shown with what it has. */
export function readRuns(paths: readonly string[]): Run[] {
  const seen = new Set<string>();
  const runs = paths.map((path) => {
    if (seen.has(resolve(path))) {
      throw new WeftError('BAD_USAGE', `${path} is given twice`, { hint: 'Pass each run once.' });
    }
    seen.add(resolve(path));
    const { run, damage } = readRun(path);
    if (damage !== undefined) printError(`weft: ${damage.message}\n`);
    return run;
  });
  if (runs.every((run) => run.rows.length === 0)) throw nothingToShow(paths, runs);
  return runs;
}

function nothingToShow(paths: readonly string[], runs: readonly Run[]): WeftError {
  const why = runs.flatMap((run) => run.errors)[0]?.message;
  const subject = paths.length === 1 ? `${paths[0]} has` : 'these runs have';
  return new WeftError('BAD_FILE', `${subject} no rows, so there is nothing to show`, {
    hint: why === undefined ? 'The run ended before its first row.' : `The run ended early: ${why}`,
  });
}

/** Where a picture goes: `asked`, or beside its only run with another ending. */
export function pictureFile(
  asked: string | undefined,
  paths: readonly string[],
  ending: '.html' | '.svg',
): string {
  if (asked === undefined) {
    if (paths.length > 1) {
      throw new WeftError('BAD_USAGE', 'with several runs, the output file needs a name', {
        hint: `Name it with -o FILE${ending}.`,
      });
    }
    return `${paths[0]!.replace(/\.(jsonl|json)$/, '')}${ending}`;
  }
  // An ending that is not ours may be a run file's, which must not be written over.
  if (extname(asked).toLowerCase() !== ending) {
    throw new WeftError('BAD_USAGE', `-o ${asked} does not end in ${ending}`, {
      hint: `Use a file name that ends in ${ending}.`,
    });
  }
  return asked;
}
