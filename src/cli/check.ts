import type { Command } from 'commander';
import { defaultTolerance } from '../analysis/compare/compare.js';
import { placeOf } from '../analysis/normal/machine.js';
import { normalOf } from '../analysis/normal/normal.js';
import { readExpectations } from '../analysis/verdict/expectations.js';
import { judge, type Source } from '../analysis/verdict/judge.js';
import { type Verdict, verdictOf } from '../analysis/verdict/verdict.js';
import { benchmarkById } from '../benchmarks/index.js';
import { messageOf, WeftError } from '../errors.js';
import { readMachine } from '../fabric/host-facts.js';
import { machineByName, machines } from '../reference/machines.js';
import { formatMetrics, formatVerdict } from '../results/formats/verdict.js';
import { mergeRepeats } from '../results/repeats.js';
import type { Run } from '../results/schema.js';
import {
  type CheckScope,
  runsForAnyMachine,
  runsForBaseline,
  runsForExpectations,
} from '../runner/check-runs.js';
import type { Job } from '../runner/job.js';
import { recordRun } from '../runner/record-run.js';
import { choice, onOff, option, percent, text, type ValuesOf } from '../settings/option.js';
import { fabricOptions } from '../settings/table.js';
import type { World } from '../world/index.js';
import { pathsOf, readSide, refuseMixed, refuseUnfinished } from './compare.js';
import { noiseFrom, refuseNoise } from './earlier-runs.js';
import { expectedOf, expectedOn } from './expected.js';
import { inRanks } from './in-ranks.js';
import { addOptions, givenOptions, readOptions } from './options.js';
import { exitCode } from './output/failure.js';
import { withFlags } from './output/flags.js';
import { printOut } from './output/print.js';
import { Progress } from './output/progress.js';
import { stdoutTerminal } from './output/terminal.js';
import { writeWhole } from './output/write-whole.js';
import { defaultRanks, formatOption, metricsOption, rankOptions } from './show-options.js';

const checkOptions = {
  ...rankOptions,
  expect: option({ flags: '--expect <file>', help: 'YAML file with expectations', kind: text }),
  baseline: option({
    flags: '--baseline <runs>',
    help: 'earlier runs to compare with: files or a folder',
    kind: text,
  }),
  machine: option({
    flags: '--machine <name>',
    help: 'built-in expectations for this type',
    kind: choice(machines.map((machine) => machine.name.split('.')[0]!)),
    defaultText: 'detected',
  }),
  quick: onOff('--quick', 'measure only pairs and one size'),
  metrics: metricsOption,
  tolerance: option({
    flags: '--tolerance <percent>',
    help: `with --baseline: tolerated difference (default: ${defaultTolerance * 100})`,
    kind: percent,
  }),
  drift: option({
    flags: '--drift <percent>',
    help: 'with --baseline: assume this much noise',
    kind: percent,
  }),
  history: option({
    flags: '--history <folder>',
    help: 'with --baseline: learn noise from this folder',
    kind: text,
  }),
  strict: onOff('--strict', 'with --baseline: degrade rows that only look slower'),
  all: onOff('--all', 'also show the items that passed'),
  format: formatOption,
};
type CheckOptions = ValuesOf<typeof checkOptions> & { readonly run?: readonly string[] };

const collect = (value: string, list: string[] = []): string[] => [...list, value];

/** `weft check`: a verdict on this cluster. */
export function addCheckCommand(program: Command): void {
  const command = program
    .command('check')
    .description('Judge this cluster; exit with 4 if it is below expectations.')
    .option('--run <file>', 'judge this run instead of measuring (repeatable)', collect);
  addOptions(addOptions(command, checkOptions), fabricOptions).action(async (raw: unknown) => {
    const { run } = raw as Pick<CheckOptions, 'run'>;
    const options: CheckOptions = { ...readOptions(raw, checkOptions), ...(run && { run }) };
    refuseIdle(options);
    const measured = run?.flatMap(readSide);
    const source = sourceOf(options, measured);
    if (measured) {
      process.exitCode = await judgeAndTell(source, measured, [], options);
      return;
    }
    const fabric = givenOptions(raw, fabricOptions);
    const jobs = jobsOf(source, { quick: options.quick, fabric, benchmarkById });
    const { pin, timeoutMs, gpus } = readOptions(raw, fabricOptions);
    process.exitCode = await inRanks({
      show: options,
      localRanks: () => options.ranks ?? ranksOf(source),
      preflight: () => undefined,
      pin,
      timeoutMs,
      gpus,
      work: (world) => measureAndJudge(world, jobs, source, options),
    });
  });
}

/** An option that would do nothing is a misunderstanding. */
function refuseIdle(options: CheckOptions): void {
  const { run, quick, baseline, strict, ...given } = options;
  const keys = (['tolerance', 'drift', 'history'] as const).filter(
    (key) => given[key] !== undefined,
  );
  const [first] = [...keys, ...(strict ? ['strict'] : [])];
  const idle =
    run && quick
      ? '--quick has no effect with --run, which measures nothing'
      : first !== undefined && baseline === undefined
        ? `--${first} has no effect without --baseline`
        : undefined;
  if (idle !== undefined) throw new WeftError('BAD_USAGE', idle, { hint: 'Leave it out.' });
  refuseNoise(options);
}

const ranksOf = (source: Source): number =>
  source.kind === 'baseline' ? source.runs[0]!.world.ranks : defaultRanks;

function sourceOf(options: CheckOptions, measured?: readonly Run[]): Source {
  const { expect, baseline, machine } = options;
  const given = [expect, baseline, machine].filter((one) => one !== undefined);
  if (given.length > 1) {
    throw new WeftError('BAD_USAGE', '--expect, --baseline and --machine cannot be combined', {
      hint: 'Use only one of them.',
    });
  }
  if (expect !== undefined) {
    return { kind: 'file', expectations: readExpectations(expect), against: expect };
  }
  if (baseline !== undefined) return baselineOf(baseline, options);
  const known = machineByName(machine ?? machineOf(measured) ?? '');
  if (known === undefined) return { kind: 'none' };
  return { kind: 'machine', machine: known, expectedOf: expectedOn(known) };
}

/** Where runs were measured; files of older versions do not say it, and count as measured here. */
function machineOf(measured: readonly Run[] | undefined): string | undefined {
  const told = measured?.filter(({ world }) => world.facts?.machine !== undefined) ?? [];
  const place = told[0] && placeOf(told[0]);
  if (place === undefined) return readMachine();
  return place.kind === 'machine' ? place.name : undefined;
}

function baselineOf(baseline: string, { tolerance, strict }: CheckOptions): Source {
  const runs = readSide(baseline);
  refuseMixed(runs);
  for (const run of runs) refuseUnfinished(run);
  return {
    kind: 'baseline',
    runs,
    tolerance: tolerance === undefined ? defaultTolerance : tolerance / 100,
    strict,
  };
}

function jobsOf(source: Source, scope: CheckScope): Job[] {
  if (source.kind === 'file') return runsForExpectations(source.expectations, scope);
  if (source.kind === 'baseline') return runsForBaseline(source.runs[0]!, scope);
  return runsForAnyMachine(scope);
}

async function measureAndJudge(
  world: World,
  jobs: readonly Job[],
  source: Source,
  options: CheckOptions,
): Promise<number> {
  refuseOtherWorld(source, world);
  try {
    const { runs, notes } = await measure(world, jobs, options.quiet);
    return world.rank === 0 ? await judgeAndTell(source, runs, notes, options) : exitCode.ok;
  } catch (error) {
    if (world.rank === 0 && options.metrics !== undefined)
      writeMetrics(options.metrics, unfinished(error));
    throw error;
  }
}

/** Earlier runs are read here, by one rank alone. */
async function judgeAndTell(
  source: Source,
  runs: readonly Run[],
  notes: readonly string[],
  options: CheckOptions,
): Promise<number> {
  const normal = normalOf(runs.map(mergeRepeats), expectedOf);
  if (source.kind !== 'baseline') {
    return tell({ ...judge(source, runs, notes), normal }, options);
  }
  const noise = await noiseFrom(options, pathsOf(options.baseline!)[0]!, source.runs[0]!);
  return tell({ ...judge({ ...source, ...noise }, runs, notes), normal }, options);
}

/** Who reads the metrics must not take the last verdict for this one. */
function unfinished(error: unknown): Verdict {
  const failed = { name: 'check', grade: 'fail', reason: messageOf(error) } as const;
  return verdictOf({ against: 'nothing', items: [failed], runs: [] });
}

function refuseOtherWorld(source: Source, { size }: World): void {
  if (source.kind !== 'baseline' || ranksOf(source) === size) return;
  throw new WeftError('BAD_USAGE', `the baseline has ${ranksOf(source)} ranks, not ${size}`, {
    hint: 'Start as many ranks as the baseline had.',
  });
}

async function measure(world: World, jobs: readonly Job[], quiet: boolean) {
  const runs: Run[] = [];
  const notes: string[] = [];
  for (const job of jobs) {
    const progress = new Progress(job.benchmark.id, quiet || world.rank !== 0);
    const recorded = await recordRun({ job, world, listener: progress });
    progress.end();
    if (recorded?.error !== undefined) throw recorded.error;
    if (recorded) runs.push(recorded.run);
    const broken = recorded?.run.diagnosis?.findings.some(({ symptom }) => symptom === 'down');
    if (await world.broadcast('a rail is down', broken ?? false)) {
      notes.push('The other benchmarks were not run: they need every rail.');
      break;
    }
  }
  return { runs, notes };
}

function tell(verdict: Verdict, { metrics, all, format }: CheckOptions): number {
  const text =
    format === 'json'
      ? `${JSON.stringify(verdict, null, 2)}\n`
      : withFlags(formatVerdict(verdict, { ...stdoutTerminal(), all }));
  printOut(text);
  if (metrics !== undefined) writeMetrics(metrics, verdict);
  return verdict.grade === 'pass' ? exitCode.ok : exitCode.verdict;
}

/** The collector may read at any moment: it sees the old file or the new one. */
const writeMetrics = (file: string, verdict: Verdict): void =>
  writeWhole(file, formatMetrics(verdict, new Date()), '--metrics');
