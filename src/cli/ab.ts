import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import type { Command } from 'commander';
import {
  type Comparison,
  compareRuns,
  defaultErrorRate,
  fewestBlocks,
} from '../analysis/compare/compare.js';
import { type Look, looksOf } from '../analysis/compare/looks.js';
import { percentText } from '../analysis/compare/summary.js';
import { seededRandom } from '../measure/seeded-random.js';
import { resultsFolder } from '../results/run-file.js';
import { newRunId } from '../results/run-name.js';
import type { Run } from '../results/schema.js';
import { onOff, option, text, type ValuesOf, wholeNumber } from '../settings/option.js';
import { refuseCommand, refuseOwn, refuseRanks, refuseUsed } from './ab-refusals.js';
import {
  type Contest,
  type FailedTurn,
  parseVariant,
  type Side,
  type Stop,
  sideFolder,
  takeTurn,
} from './ab-turns.js';
import { judgeOptions, printComparison, refuseStrangers } from './compare.js';
import { addOptions, readOptions } from './options.js';
import { exitCode } from './output/failure.js';
import { StatusLine } from './output/status-line.js';
import { shellQuoted, shellWords } from './shell-words.js';

const sides = ['a', 'b'] as const;

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

type Given = AbOptions & { readonly seed: number };

/** How a contest ended. */
interface Ended {
  readonly rounds: number;
  /** Absent where not even one run of each side is there. */
  readonly comparison?: Comparison;
  readonly stoppedEarly: boolean;
  readonly failed?: FailedTurn;
  readonly interrupted: boolean;
}

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
  return tell(await holdInterrupts((stop) => takeTurns(made, given, stop)), made, given);
}

/** Ctrl-C ends the turn in work, a second one at once; what was measured before is compared. */
async function holdInterrupts<T>(work: (stop: Stop) => Promise<T>): Promise<T> {
  const [soon, atOnce] = [new AbortController(), new AbortController()];
  const end = () => (soon.signal.aborted ? atOnce : soon).abort();
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, end);
  try {
    return await work({ soon: soon.signal, atOnce: atOnce.signal });
  } finally {
    for (const signal of signals) process.off(signal, end);
  }
}

async function takeTurns(made: Contest, given: Given, stop: Stop): Promise<Ended> {
  const looks = looksOf(given.rounds);
  const random = seededRandom(given.seed);
  const startedMs = performance.now();
  const runs: Record<Side, Run[]> = { a: [], b: [] };
  const compared = ({ errorRate }: Look) =>
    compareRuns(runs.a, runs.b, {
      ...{ tolerance: given.tolerance / 100, errorRate },
      abWords: typed(given, made.command),
    });
  using status = new StatusLine(given.quiet);
  for (let round = 1; ; round++) {
    const order: readonly Side[] = random() < 0.5 ? sides : ['b', 'a'];
    for (const side of order) {
      status.say(
        `round ${round} of ${given.rounds}: ${side.toUpperCase()}${timeLeft(startedMs, runs, given)}`,
      );
      const turn = await tryTwice(made, { side, round }, runs[side].length > 0, stop);
      if (!('code' in turn)) {
        runs[side].push(turn);
        continue;
      }
      const some = runs.a.length > 0 && runs.b.length > 0;
      const last = some ? { comparison: compared(looks.at(-1)!) } : {};
      const why = stop.soon.aborted ? { interrupted: true } : { interrupted: false, failed: turn };
      return { rounds: round, stoppedEarly: false, ...last, ...why };
    }
    if (round === 1) refuseStrangers(compared(looks[0]!));
    const look = looks.find(({ rounds }) => rounds === round);
    if (look === undefined) continue;
    const comparison = compared(look);
    const decided = comparison.rows.every(({ verdict }) => verdict !== 'unclear');
    const stoppedEarly = decided && round < given.rounds;
    if (stoppedEarly || round === given.rounds)
      return { rounds: round, comparison, stoppedEarly, interrupted: false };
  }
}

/** If it goes on to the last round. */
function timeLeft(startedMs: number, { a, b }: Record<Side, Run[]>, { rounds }: Given): string {
  const done = a.length + b.length;
  if (done === 0) return '';
  const seconds = ((performance.now() - startedMs) / done / 1000) * (2 * rounds - done);
  const text = seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.round(seconds / 60)} min`;
  return `, at most ${text} left`;
}

/** Wrong usage fails again, and so does what never worked; a run that once did may have had bad luck. */
async function tryTwice(
  made: Contest,
  turn: { side: Side; round: number },
  worked: boolean,
  stop: Stop,
): Promise<Run | FailedTurn> {
  const first = await takeTurn(made, turn, stop);
  return 'code' in first && worked && !stop.soon.aborted ? takeTurn(made, turn, stop) : first;
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
    process.stderr.write(`weft: interrupted in round ${rounds} of ${mostRounds}${then}\n`);
  }
  if (failed !== undefined) {
    const { side, round, words } = failed;
    process.stderr.write(`weft: ${side.toUpperCase()} failed in round ${round}: ${words}\n`);
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
