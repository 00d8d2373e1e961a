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
import { byRank, isLarge, mostRanksInFull } from '../results/large-matrix.js';
import { readRun } from '../results/read-run.js';
import type { Run } from '../results/schema.js';
import { choice, onOff, option, percent, text } from '../settings/option.js';
import { abWords } from './ab-words.js';
import { noiseFrom, refuseNoise } from './earlier-runs.js';
import { addOptions, readOptions } from './options.js';
import { exitCode } from './output/failure.js';
import { printOut } from './output/print.js';
import { stdoutTerminal } from './output/terminal.js';

/** How rows are judged and shown; `ab` has the same. */
export const judgeOptions = {
  tolerance: option({
    flags: '--tolerance <percent>',
    help: 'treat smaller differences as equal',
    kind: percent,
    default: defaultTolerance * 100,
  }),
  strict: onOff('--strict', 'also exit with 4 if a row looks slower without proof'),
  all: onOff('--all', 'also show the rows that are the same'),
  format: option({
    flags: '--format <format>',
    help: `format: ${comparisonFormats.join(', ')}`,
    kind: choice(comparisonFormats),
    default: 'table',
  }),
};

const compareOptions = {
  ...judgeOptions,
  history: option({
    flags: '--history <folder>',
    help: 'learn noise from this folder',
    kind: text,
    defaultText: 'folder of A',
  }),
  drift: option({
    flags: '--drift <percent>',
    help: 'assume this much noise',
    kind: percent,
    defaultText: 'learned',
  }),
};

/** `weft compare A B`: which rows of B are slower or faster than in A. */
export function addCompareCommand(program: Command): void {
  const command = program
    .command('compare')
    .description('Compare two runs; exit with 4 if B is slower.')
    .argument('<A>', 'run file, comma-separated run files, or a folder')
    .argument('<B>', 'runs to compare with A, given in the same way');
  addOptions(command, compareOptions).action(async (a: string, b: string, raw: unknown) => {
    const options = readOptions(raw, compareOptions);
    refuseNoise(options);
    const sides = [readSide(a), readSide(b)] as const;
    refuseMixed(sides.flat());
    for (const run of sides.flat()) refuseUnfinished(run);
    const words = abWords(sides[0][0]!, sides[1][0]!);
    const comparison = compareRuns(...sides, {
      tolerance: options.tolerance / 100,
      ...(await noiseFrom(options, pathsOf(a)[0]!, sides[0][0]!)),
      ...(words !== undefined && { abWords: words }),
    });
    refuseStrangers(comparison);
    process.exitCode = printComparison(comparison, options, notesOn(sides.flat()));
  });
}

interface Show {
  readonly format: (typeof comparisonFormats)[number];
  readonly all: boolean;
  readonly strict: boolean;
}

/** Prints a comparison, with further notes; the exit code says whether B is worse. */
export function printComparison(
  comparison: Comparison,
  { format, all, strict }: Show,
  notes: readonly string[] = [],
): number {
  const { color, width } = stdoutTerminal();
  printOut(formatComparison(comparison, format, { all, color, width, notes }));
  return isWorse(comparison, { strict }) ? exitCode.verdict : exitCode.ok;
}

/** The runs of one side. A damaged file is refused: a comparison of half a run misleads. */
export function readSide(text: string): Run[] {
  const runs = pathsOf(text).map((path) => {
    const { run, damage } = readRun(path);
    if (damage) throw damage;
    return byRank(run);
  });
  if (runs.length > 0) return runs;
  throw new WeftError('BAD_FILE', `${text} contains no run files`, {
    hint: 'Pass run files, such as those in weft-results/.',
  });
}

/** What a reader must know of the rows. */
const notesOn = (runs: readonly Run[]): string[] =>
  runs.some(({ world }) => isLarge(world))
    ? [
        `pairs of more than ${mostRanksInFull} ranks are compared by rank: each row is the median over all peers of a rank`,
      ]
    : [];

/** The run files that a side names. */
export const pathsOf = (text: string): string[] =>
  text.split(',').flatMap((path) => (isFolder(path) ? runFilesIn(path) : [path]));

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

export function refuseStrangers({ rows }: Comparison): void {
  if (rows.some(({ verdict }) => isOnBothSides(verdict))) return;
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
