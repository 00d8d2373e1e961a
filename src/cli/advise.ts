import type { Command } from 'commander';
import type { Change, OpenQuestion } from '../analysis/advice/change.js';
import { fewestBlocks } from '../analysis/compare/compare.js';
import { benchmarks } from '../benchmarks/index.js';
import { WeftError } from '../errors.js';
import { adviceJson, type Commands, formatAdvice, formatTried } from '../results/formats/advice.js';
import type { Run } from '../results/schema.js';
import { device, pinned } from '../runner/columns.js';
import { adviseRuns } from '../runner/predict/advise-runs.js';
import {
  choice,
  flagOf,
  onOff,
  option,
  sizeAboveZero,
  text,
  type ValuesOf,
  wholeNumber,
} from '../settings/option.js';
import { predictOptions } from '../settings/predict.js';
import { refuseRanks } from './ab-refusals.js';
import { commandLine } from './ab-words.js';
import { answer } from './advise-strategy.js';
import { tryChange } from './advise-try.js';
import { pathsOf } from './compare.js';
import { fabricModel } from './fabric-model.js';
import { addOptions, givenOptions, readOptions } from './options.js';
import { exitCode } from './output/failure.js';
import { stdoutTerminal } from './output/terminal.js';
import { readRuns } from './pictures.js';
import { formatOption } from './show-options.js';

/** Of advice without runs. */
const strategyOptions = {
  buffers: option({
    flags: '--buffers <count>',
    help: 'buffers in flight, each to another peer',
    kind: wholeNumber(1, 1024),
    default: 1,
  }),
  bytes: option({
    flags: '--bytes <size>',
    help: 'size of each buffer',
    kind: sizeAboveZero,
    default: 2 ** 30,
  }),
  memory: option({
    flags: '--memory <kind>',
    help: 'where the buffers are: device, pinned',
    kind: choice(['device', 'pinned']),
    default: 'device',
  }),
};

/** Of advice on runs. */
const runOptions = {
  column: option({
    flags: '--column <name>',
    help: 'column in use, e.g. MultiPin',
    kind: text,
    defaultText: 'the simplest',
  }),
  try: onOff('--try', 'measure the first change in turns'),
  rounds: option({
    flags: '--rounds <count>',
    help: 'with --try: most runs per side',
    kind: wholeNumber(fewestBlocks),
    default: 10,
  }),
  launch: option({
    flags: '--launch <words>',
    help: 'with --try: command that launches every run',
    kind: text,
    default: '',
  }),
  out: option({
    flags: '--out <folder>',
    help: 'with --try: new folder',
    kind: text,
    defaultText: 'in weft-results/',
  }),
  seed: option({
    flags: '--seed <number>',
    help: 'with --try: seed of the random order',
    kind: wholeNumber(0),
    defaultText: 'random',
  }),
  quiet: onOff('--quiet', 'no progress on stderr'),
};

const table = {
  fabric: option({
    flags: predictOptions.fabric.flags,
    help: 'p5, lab or a file',
    kind: text,
    defaultText: 'p5, or fitted to the runs',
  }),
  ...strategyOptions,
  ...runOptions,
  format: formatOption,
};
type Asked = ValuesOf<typeof table>;

/** `weft advise`: how to spread buffers over NICs, or what to change in what runs measured. */
export function addAdviseCommand(program: Command): void {
  const command = program
    .command('advise')
    .argument('[runs...]', 'run files or folders to look at')
    .description('Recommend a strategy for sending buffers, or what to change in runs.');
  addOptions(command, table).action(async (runs: string[], raw: unknown) => {
    const asked = readOptions(raw, table);
    const given = Object.keys(givenOptions(raw, table));
    if (runs.length > 0) {
      refuse(given, strategyOptions, 'with run files');
      process.exitCode = await adviseOn(runs, asked);
      return;
    }
    refuse(given, runOptions, 'without run files');
    const { fabric = 'p5', memory, bytes, buffers, format } = asked;
    const kind = memory === 'device' ? device : pinned;
    const question = { fabric: fabricModel(fabric), memory: kind, bytes, buffers };
    process.stdout.write(answer(question, format, stdoutTerminal().width));
  });
}

function refuse(given: readonly string[], options: Partial<typeof table>, when: string): void {
  const found = Object.entries(options).find(([key]) => given.includes(key));
  if (found === undefined) return;
  throw new WeftError('BAD_USAGE', `${flagOf(found[1])} has no effect ${when}`, {
    hint: 'Leave it out.',
  });
}

const commands: Commands = {
  change: ({ run, options }: Change) =>
    options && commandLine(run, { ...options.shared, ...options.to }),
  question: ({ run, measure }: OpenQuestion) =>
    run && measure && commandLine(...asked(run, measure)),
};

/** The run itself with other options; of another benchmark, only what says over which NICs it goes. */
function asked(
  run: NonNullable<OpenQuestion['run']>,
  { benchmark, options }: NonNullable<OpenQuestion['measure']>,
): Parameters<typeof commandLine> {
  if (benchmark === run.benchmark) return [run, options];
  const { provider, nics, channels } = run.settings;
  const settings = Object.fromEntries(
    Object.entries({ provider, nics, channels }).filter(([, value]) => value !== undefined),
  ) as typeof run.settings;
  return [{ ...run, benchmark, settings }, options];
}

async function adviseOn(paths: readonly string[], options: Asked): Promise<number> {
  const { fabric, column, format } = options;
  if (options.try) refuseRanks('weft advise --try');
  const { width } = stdoutTerminal();
  const runs = readRuns(paths.flatMap(filesOf));
  refuseColumn(runs, column);
  const model = fabric === undefined ? undefined : fabricModel(fabric);
  const advice = adviseRuns({ runs, fabric: model, column }, benchmarks);
  const isTable = format === 'table';
  if (isTable) process.stdout.write(formatAdvice(advice, commands, width));
  const change = options.try ? firstToTry(advice.changes) : undefined;
  const tried = change && (await tryChange(change, options));
  if (!isTable) process.stdout.write(adviceJson(advice, commands, tried));
  else if (tried) process.stdout.write(formatTried(tried, width));
  return tried?.verdict === 'slower' ? exitCode.verdict : exitCode.ok;
}

/** The run files that a path names. */
function filesOf(path: string): string[] {
  const files = pathsOf(path);
  if (files.length > 0) return files;
  throw new WeftError('BAD_FILE', `${path} contains no run files`, {
    hint: 'Pass run files, such as those in weft-results/.',
  });
}

function refuseColumn(runs: readonly Run[], column: string | undefined): void {
  const known = new Set(runs.flatMap(({ rows }) => rows.map((row) => row.column)));
  if (column === undefined || known.has(column)) return;
  throw new WeftError('BAD_USAGE', `no run has a column ${column}`, {
    hint: `Columns: ${[...known].join(', ')}.`,
  });
}

function firstToTry(changes: readonly Change[]): Change | undefined {
  const found = changes.find(({ options }) => options !== undefined);
  if (found === undefined)
    process.stderr.write(
      'weft: nothing to try: none of the suggested changes can be made with an option\n',
    );
  return found;
}
