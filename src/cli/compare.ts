import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import {
  type Comparison,
  compareRuns,
  defaultTolerance,
  isOnBothSides,
  isWorse,
} from '../analysis/compare/compare.js';
import { WeftError } from '../errors.js';
import { comparisonFormats, formatComparison } from '../results/formats/comparison.js';
import { readRun } from '../results/read-run.js';
import type { Run } from '../results/schema.js';
import { choice, onOff, option, percent } from '../settings/option.js';
import { addOptions, readOptions } from './options.js';
import { exitCode } from './output/failure.js';
import { stdoutTerminal } from './output/terminal.js';

const compareOptions = {
  tolerance: option({
    flags: '--tolerance <percent>',
    help: 'treat smaller differences as equal',
    kind: percent,
    default: defaultTolerance * 100,
  }),
  drift: option({
    flags: '--drift <percent>',
    help: 'ignore drift up to this',
    kind: percent,
    defaultText: '50; 900 below 5 runs',
  }),
  all: onOff('--all', 'also show rows that did not change'),
  format: option({
    flags: '--format <format>',
    help: `output format: ${comparisonFormats.join(', ')}`,
    kind: choice(comparisonFormats),
    default: 'table',
  }),
};

/** `weft compare A B`: which rows of B are slower or faster than in A. */
export function addCompareCommand(program: Command): void {
  const command = program
    .command('compare')
    .description('Compare two runs; exit with 4 if B is slower.')
    .argument('<A>', 'run file, comma-separated run files, or a folder')
    .argument('<B>', 'runs to compare with A, given in the same way');
  addOptions(command, compareOptions).action((a: string, b: string, raw: unknown) => {
    const { format, all, tolerance, drift } = readOptions(raw, compareOptions);
    const sides = [readSide(a), readSide(b)] as const;
    refuseMixed(sides.flat());
    for (const run of sides.flat()) refuseUnfinished(run);
    const comparison = compareRuns(...sides, {
      tolerance: tolerance / 100,
      ...(drift !== undefined && { drift: drift / 100 }),
    });
    refuseStrangers(comparison);
    const { color } = stdoutTerminal();
    process.stdout.write(formatComparison(comparison, format, { all, color }));
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
  throw new WeftError('BAD_FILE', `${text} contains no run files`, {
    hint: 'Pass run files, such as those in weft-results/.',
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
  throw new WeftError('BAD_FILE', `run ${id} did not finish`, {
    hint: 'Run it again and compare complete runs.',
  });
}

function refuseStrangers({ rows }: Comparison): void {
  if (rows.some(({ change }) => isOnBothSides(change))) return;
  throw new WeftError('BAD_USAGE', 'A and B have no row in common', {
    hint: 'Measure the same sizes and columns. For pairs, fix the size with -b and -e.',
  });
}

export function refuseMixed(runs: readonly Run[]): void {
  const found = [...new Set(runs.map((run) => run.benchmark))];
  if (found.length === 1) return;
  throw new WeftError('BAD_USAGE', `these runs are of different benchmarks: ${found.join(', ')}`, {
    hint: 'Compare runs of one benchmark. Pass files instead of a folder.',
  });
}
