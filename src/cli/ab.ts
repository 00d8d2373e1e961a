import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import type { Command } from 'commander';
import { type Comparison, defaultErrorRate, fewestBlocks } from '../analysis/compare/compare.js';
import { percentText } from '../analysis/compare/summary.js';
import { resultsFolder } from '../results/run-file.js';
import { newRunId } from '../results/run-name.js';
import { onOff, option, text, type ValuesOf, wholeNumber } from '../settings/option.js';
import { type Course, type Ended, inTurns, sides } from './ab-contest.js';
import { refuseCommand, refuseOwn, refuseRanks, refuseUsed } from './ab-refusals.js';
import { type Contest, parseVariant, type Side, sideFolder } from './ab-turns.js';
import { judgeOptions, printComparison } from './compare.js';
import { addOptions, readOptions } from './options.js';
import { exitCode } from './output/failure.js';
import { printError } from './output/print.js';
import { shellQuoted, shellWords } from './shell-words.js';

const variant = (side: Side) =>
  option({
    flags: `--${side} <words>`,
    help: `${side.toUpperCase()}: variables and options, e.g. '--chunk 1M'`,
    kind: text,
    default: '',
  });

const abOptions = {
  a: variant('a'),
  b: variant('b'),
  rounds: option({
    flags: '--rounds <count>',
    help: 'maximum number of runs per side',
    kind: wholeNumber(fewestBlocks),
    default: 10,
  }),
  launch: option({
    flags: '--launch <words>',
    help: "command that launches every run, e.g. 'srun -n 4'",
    kind: text,
    default: '',
  }),
  out: option({
    flags: '--out <folder>',
    help: 'new folder for the run files',
    kind: text,
    defaultText: 'in weft-results/',
  }),
  seed: option({
    flags: '--seed <number>',
    help: 'seed of the random order',
    kind: wholeNumber(0),
    defaultText: 'random',
  }),
  quiet: onOff('--quiet', 'no progress on stderr'),
  ...judgeOptions,
};
type AbOptions = ValuesOf<typeof abOptions>;

/** `weft ab`: two variants of a benchmark in turns, and what differs. */
export function addAbCommand(program: Command): void {
  const command = program
    .command('ab')
    .summary('Run two variants in turns and compare them.')
    .description('Run two variants of a benchmark in turns; exit with 4 if B is slower.')
    .argument('<command...>', 'benchmark and its options, e.g. -- write -b 1M')
    .passThroughOptions();
  addOptions(command, abOptions).action(async (words: string[], raw: unknown) => {
    process.exitCode = await contest(words, readOptions(raw, abOptions));
  });
}

type Given = AbOptions & Course;

async function contest(words: readonly string[], options: AbOptions): Promise<number> {
  refuseRanks();
  refuseCommand(words);
  const made: Contest = {
    variants: { a: parseVariant(options.a), b: parseVariant(options.b) },
    command: words,
    launch: shellWords(options.launch),
    folder: options.out ?? join(resultsFolder, newRunId('ab', new Date())),
  };
  for (const { words: own } of Object.values(made.variants)) refuseOwn(own);
  for (const side of sides) refuseUsed(sideFolder(made, side));
  const given = { ...options, seed: options.seed ?? randomInt(1_000_000) };
  const course = { ...given, abWords: typed(given, words) };
  return tell(await inTurns(made, course), made, given);
}

/** What the user typed, for the command that goes on. */
const typed = ({ a, b, launch }: AbOptions, words: readonly string[]): string =>
  [
    ...(launch === '' ? [] : ['--launch', shellQuoted(launch)]),
    ...['--a', shellQuoted(a), '--b', shellQuoted(b), '--', ...words.map(shellQuoted)],
  ].join(' ');

function tell(ended: Ended, made: Contest, given: Given): number {
  const { comparison, interrupted, failed, rounds, stoppedEarly } = ended;
  const { a, b, launch, seed, rounds: mostRounds } = given;
  const { command, folder } = made;
  const ab = { rounds, mostRounds, stoppedEarly, seed, a, b, launch, command, folder };
  const code =
    comparison === undefined
      ? exitCode.failed
      : printComparison({ ...comparison, ab } as Comparison, given, notesOf(ended, made, given));
  if (interrupted) {
    const then = comparison === undefined ? '' : '; compared the finished runs';
    printError(`weft: interrupted in round ${rounds} of ${mostRounds}${then}\n`);
  }
  if (failed !== undefined) {
    const { side, round, words } = failed;
    printError(`weft: ${side.toUpperCase()} failed in round ${round}: ${words}\n`);
  }
  if (failed?.code === exitCode.usage || failed?.code === exitCode.nothing) return failed.code;
  return interrupted || failed !== undefined ? exitCode.failed : code;
}

function notesOf({ rounds, stoppedEarly }: Ended, made: Contest, given: Given): string[] {
  const [a, b] = sides.map((side) => shellQuoted(sideFolder(made, side)));
  const early = `stopped after ${rounds} of ${given.rounds} rounds because every row is decided; the error rate of ${percentText(defaultErrorRate)} covers all interim comparisons`;
  return [
    ...(stoppedEarly ? [early] : []),
    `A and B took turns in random order (--seed ${given.seed}); run files: ${a} and ${b}`,
  ];
}
