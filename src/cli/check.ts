import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { z } from 'zod';
import { defaultTolerance } from '../analysis/compare/compare.js';
import { readExpectations } from '../analysis/verdict/expectations.js';
import { judge, type Source } from '../analysis/verdict/judge.js';
import { machineByName, machines } from '../analysis/verdict/machines.js';
import { type Verdict, verdictOf } from '../analysis/verdict/verdict.js';
import { benchmarkById } from '../benchmarks/index.js';
import { WeftError } from '../errors.js';
import { formatMetrics, formatVerdict } from '../results/formats/verdict.js';
import type { Run } from '../results/schema.js';
import {
  type CheckScope,
  runsForAnyMachine,
  runsForBaseline,
  runsForExpectations,
} from '../runner/check-runs.js';
import { recordRun } from '../runner/record-run.js';
import type { SuiteEntry } from '../runner/suite.js';
import type { World } from '../world/index.js';
import { addRankOptions, defaultRanks, rankSchema } from './bench-options.js';
import { readSide, refuseMixed, refuseUnfinished } from './compare.js';
import { addFabricOptions, readFabricOptions } from './fabric-options.js';
import { exitCode } from './failure.js';
import { inRanks } from './in-ranks.js';
import { percent } from './option-parsers.js';
import { Progress } from './progress.js';
import { stdoutTerminal } from './terminal.js';
import { writeWhole } from './write-whole.js';

const checkSchema = rankSchema.extend({
  expect: z.string().optional(),
  baseline: z.string().optional(),
  machine: z.string().optional(),
  run: z.array(z.string()).optional(),
  quick: z.boolean(),
  metrics: z.string().optional(),
  tolerance: z.number().optional(),
  drift: z.number().optional(),
  all: z.boolean(),
  format: z.enum(['table', 'json']),
});
type CheckOptions = z.infer<typeof checkSchema>;

const collect = (value: string, list: string[] = []): string[] => [...list, value];

/** `weft check`: a verdict on this cluster. */
export function addCheckCommand(program: Command): void {
  const command = program
    .command('check')
    .description('A verdict on this cluster. Exits with 4 when something is below expectation.')
    .option('--expect <file>', 'expectations in YAML')
    .option('--baseline <runs>', 'an earlier run that should be reached again')
    .addOption(
      new Option(
        '--machine <name>',
        'what is built in for a machine (default: by its own name)',
      ).choices(machines.map((machine) => machine.name.split('.')[0]!)),
    )
    .option('--run <file>', 'judge this run instead of measuring; may be given again', collect)
    .option('--quick', 'only the pairs and one size', false)
    .option('--metrics <file>', 'also write it for Prometheus’ textfile collector')
    .option(
      '--tolerance <percent>',
      `with --baseline: differences up to this are the same (default: ${defaultTolerance * 100})`,
      percent,
    )
    .option('--drift <percent>', 'with --baseline: as compare has it', percent)
    .option('--all', 'show what passed, too', false)
    .addOption(
      new Option('--format <format>', 'how it is printed')
        .choices(['table', 'json'])
        .default('table'),
    );
  addFabricOptions(addRankOptions(command)).action(async (raw: unknown) => {
    const options = checkSchema.parse(raw);
    refuseIdle(options);
    const source = sourceOf(options);
    if (options.run) {
      process.exitCode = tell(judge(source, options.run.flatMap(readSide), []), options);
      return;
    }
    const scope = { quick: options.quick, fabric: readFabricOptions(raw), benchmarkById };
    const { pin, timeoutMs, gpus } = scope.fabric;
    const entries = entriesOf(source, scope);
    process.exitCode = await inRanks({
      show: options,
      localRanks: options.ranks ?? ranksOf(source),
      preflight: () => undefined,
      pin,
      timeoutMs,
      gpus,
      work: (world) => measureAndJudge(world, entries, source, options),
    });
  });
}

/** An option that would do nothing is a misunderstanding. */
function refuseIdle({ run, quick, baseline, tolerance, drift }: CheckOptions): void {
  const idle =
    run && quick
      ? '--quick says what is measured, and --run that nothing is'
      : (tolerance ?? drift) !== undefined && baseline === undefined
        ? '--tolerance and --drift are for --baseline'
        : undefined;
  if (idle !== undefined) throw new WeftError('BAD_USAGE', idle);
}

const ranksOf = (source: Source): number =>
  source.kind === 'baseline' ? source.runs[0]!.world.ranks : defaultRanks;

function sourceOf({ expect, baseline, machine, tolerance, drift }: CheckOptions): Source {
  const given = [expect, baseline, machine].filter((one) => one !== undefined);
  if (given.length > 1) {
    throw new WeftError('BAD_USAGE', 'give one of --expect, --baseline and --machine');
  }
  if (expect !== undefined) {
    return { kind: 'file', expectations: readExpectations(expect), against: expect };
  }
  if (baseline !== undefined) {
    const runs = readSide(baseline);
    refuseMixed(runs);
    for (const run of runs) refuseUnfinished(run);
    const share = tolerance === undefined ? defaultTolerance : tolerance / 100;
    const steady = drift === undefined ? {} : { drift: drift / 100 };
    return { kind: 'baseline', runs, tolerance: share, ...steady };
  }
  const known = machineByName(machine ?? productName());
  return known ? { kind: 'machine', machine: known } : { kind: 'none' };
}

/** As the firmware calls this machine; on EC2 that is the instance type. */
function productName(): string {
  try {
    return readFileSync('/sys/class/dmi/id/product_name', 'utf8').trim();
  } catch {
    return '';
  }
}

function entriesOf(source: Source, scope: CheckScope): SuiteEntry[] {
  if (source.kind === 'file') return runsForExpectations(source.expectations, scope);
  if (source.kind === 'baseline') return runsForBaseline(source.runs[0]!, scope);
  return runsForAnyMachine(scope);
}

async function measureAndJudge(
  world: World,
  entries: readonly SuiteEntry[],
  source: Source,
  options: CheckOptions,
): Promise<number> {
  refuseOtherWorld(source, world);
  try {
    const { runs, notes } = await measure(world, entries, options.quiet);
    return world.rank === 0 ? tell(judge(source, runs, notes), options) : exitCode.ok;
  } catch (error) {
    if (world.rank === 0 && options.metrics !== undefined)
      writeMetrics(options.metrics, unfinished(error));
    throw error;
  }
}

/** Who reads the metrics must not take the last verdict for this one. */
function unfinished(error: unknown): Verdict {
  const reason = error instanceof Error ? error.message : String(error);
  return verdictOf({
    against: 'nothing',
    items: [{ name: 'check', grade: 'fail', reason }],
    runs: [],
  });
}

function refuseOtherWorld(source: Source, { size }: World): void {
  if (source.kind !== 'baseline' || ranksOf(source) === size) return;
  throw new WeftError('BAD_USAGE', `the baseline has ${ranksOf(source)} ranks, not ${size}`, {
    hint: 'Start as many ranks as the baseline had.',
  });
}

async function measure(world: World, entries: readonly SuiteEntry[], quiet: boolean) {
  const runs: Run[] = [];
  const notes: string[] = [];
  for (const { benchmark, settings } of entries) {
    const progress = new Progress(benchmark.id, quiet || world.rank !== 0);
    const recorded = await recordRun({ benchmark, world, settings, listener: progress });
    progress.end();
    if (recorded?.error !== undefined) throw recorded.error;
    if (recorded) runs.push(recorded.run);
    const broken = recorded?.run.diagnosis?.findings.some(({ symptom }) => symptom === 'down');
    if (await world.broadcast('a rail is down', broken ?? false)) {
      notes.push('Nothing further was measured: that needs every rail.');
      break;
    }
  }
  return { runs, notes };
}

/** Prints the verdict; the exit code follows from it. */
function tell(verdict: Verdict, { metrics, all, format }: CheckOptions): number {
  const text =
    format === 'json'
      ? `${JSON.stringify(verdict, null, 2)}\n`
      : formatVerdict(verdict, { ...stdoutTerminal(), all });
  process.stdout.write(text);
  if (metrics !== undefined) writeMetrics(metrics, verdict);
  return verdict.grade === 'pass' ? exitCode.ok : exitCode.verdict;
}

/** The collector may read at any moment: it sees the old file or the new one. */
const writeMetrics = (file: string, verdict: Verdict): void =>
  writeWhole(file, formatMetrics(verdict, new Date()), '--metrics');
