import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import {
  type Comparison,
  compareRuns,
  defaultTolerance,
  isWorse,
} from '../analysis/compare/compare.js';
import { WeftError } from '../errors.js';
import {
  type ComparisonFormat,
  comparisonFormats,
  formatComparison,
} from '../results/formats/comparison.js';
import { readRun } from '../results/read-run.js';
import type { Run } from '../results/schema.js';
import { exitCode } from './failure.js';
import { percent } from './option-parsers.js';
import { stdoutTerminal } from './terminal.js';

interface CompareOptions {
  readonly tolerance: number;
  readonly drift?: number;
  readonly format: ComparisonFormat;
  readonly all: boolean;
}

/** `weft compare A B`: which rows of B are slower or faster than in A. */
export function addCompareCommand(program: Command): void {
  program
    .command('compare')
    .description('Two runs row by row: faster, slower or the same. Exits with 4 when B is slower.')
    .argument('<A>', 'a run file, several with commas between, or a folder of them')
    .argument('<B>', 'likewise')
    .option(
      '--tolerance <percent>',
      'differences up to this are the same',
      percent,
      defaultTolerance * 100,
    )
    .option(
      '--drift <percent>',
      'what runs of this machine differ by at another time (default: 900, with 5 repeats 50; in turns none)',
      percent,
    )
    .option('--all', 'show the rows that are the same, too', false)
    .addOption(
      new Option('--format <format>', 'how it is printed')
        .choices(comparisonFormats)
        .default('table'),
    )
    .action((a: string, b: string, options: CompareOptions) => {
      const { format, all } = options;
      const sides = [readSide(a), readSide(b)] as const;
      refuseMixed(sides.flat());
      for (const run of sides.flat()) refuseUnfinished(run);
      const comparison = compareRuns(...sides, {
        tolerance: options.tolerance / 100,
        ...(options.drift !== undefined && { drift: options.drift / 100 }),
      });
      refuseStrangers(comparison);
      process.stdout.write(
        formatComparison(comparison, format, { all, color: stdoutTerminal().color }),
      );
      process.exitCode = isWorse(comparison) ? exitCode.verdict : exitCode.ok;
    });
}

/** The runs of one side. A damaged file is refused: a comparison of half a run misleads. */
export function readSide(text: string): Run[] {
  const paths = text.split(',').flatMap((path) => (isFolder(path) ? runFilesIn(path) : [path]));
  const runs = paths.map((path) => {
    const { run, damage } = readRun(path);
    if (damage) throw damage;
    return run;
  });
  if (runs.length > 0) return runs;
  throw new WeftError('BAD_FILE', `${text} holds no runs`, {
    hint: 'Name run files, such as those in weft-results/.',
  });
}

const isFolder = (path: string): boolean => existsSync(path) && statSync(path).isDirectory();

const runFilesIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
    .map((name) => join(folder, name));

/** Half a run would make its lost rows look merely missing. */
export function refuseUnfinished({ id, outcome }: Run): void {
  if (outcome !== 'aborted') return;
  throw new WeftError('BAD_FILE', `${id} did not come to its end`, {
    hint: 'Run it again and compare runs that are whole.',
  });
}

function refuseStrangers({ rows }: Comparison): void {
  if (rows.some(({ change }) => !change.startsWith('only in'))) return;
  throw new WeftError('BAD_USAGE', 'no row is on both sides', {
    hint: 'Measure the same sizes and columns; of pairs fix the size with -b and -e.',
  });
}

export function refuseMixed(runs: readonly Run[]): void {
  const found = [...new Set(runs.map((run) => run.benchmark))];
  if (found.length === 1) return;
  throw new WeftError('BAD_USAGE', `these are runs of different benchmarks: ${found.join(', ')}`, {
    hint: 'Compare runs of the same benchmark; name the files instead of a folder.',
  });
}
