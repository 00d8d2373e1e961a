import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { z } from 'zod';
import {
  type CheckScope,
  runsForAnyMachine,
  runsForBaseline,
  runsForExpectations,
} from '../bench/check-runs.js';
import { recordRun } from '../bench/record-run.js';
import type { SuiteEntry } from '../bench/suite.js';
import { WeftError } from '../errors.js';
import { compareRuns, defaultTolerance } from '../results/compare/compare.js';
import { formatMetrics, formatVerdict } from '../results/formats/verdict.js';
import { mergeRepeats } from '../results/repeats.js';
import type { Run } from '../results/schema.js';
import { judgeDiagnoses } from '../results/verdict/diagnosis-items.js';
import {
  type Expectation,
  judgeExpectations,
  readExpectations,
} from '../results/verdict/expectations.js';
import { judgeComparison, judgeSoundness } from '../results/verdict/judge-runs.js';
import {
  describeMachine,
  judgeByBound,
  judgeByMachine,
  type Machine,
  machineByName,
  machines,
} from '../results/verdict/machines.js';
import { type Item, type Verdict, verdictOf } from '../results/verdict/verdict.js';
import type { World } from '../world/index.js';
import { addShowOptions, defaultRanks, readShow, type ShowOptions } from './bench-options.js';
import { readSide } from './compare.js';
import { addFabricOptions, readFabricOptions } from './fabric-options.js';
import { exitCode } from './failure.js';
import { inRanks } from './in-ranks.js';
import { percent } from './option-parsers.js';
import { Progress } from './progress.js';
import { stdoutTerminal } from './terminal.js';

/** What the results are held against. */
type Source =
  | { readonly kind: 'file'; readonly expectations: Expectation[]; readonly against: string }
  | { readonly kind: 'baseline'; readonly runs: Run[]; readonly tolerance: number }
  | { readonly kind: 'machine'; readonly machine: Machine }
  | { readonly kind: 'none' };

const checkSchema = z.object({
  expect: z.string().optional(),
  baseline: z.string().optional(),
  machine: z.string().optional(),
  run: z.array(z.string()).optional(),
  quick: z.boolean(),
  metrics: z.string().optional(),
  tolerance: z.number(),
  all: z.boolean(),
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
    .option('--tolerance <percent>', 'with --baseline', percent, defaultTolerance * 100)
    .option('--all', 'show what passed, too', false);
  addFabricOptions(addShowOptions(command)).action(async (raw: unknown) => {
    const options = checkSchema.parse(raw);
    const show = readShow(raw);
    const source = sourceOf(options);
    if (options.run) {
      const runs = options.run.flatMap(readSide);
      process.exitCode = tell(judge(source, runs, []), options, show);
      return;
    }
    const scope = { quick: options.quick, fabric: readFabricOptions(raw) };
    const entries = entriesOf(source, scope);
    process.exitCode = await inRanks({
      show,
      localRanks: show.ranks ?? defaultRanks,
      preflight: () => undefined,
      pin: scope.fabric.pin,
      timeoutMs: scope.fabric.timeoutMs,
      work: (world) => measureAndJudge(world, entries, source, options, show),
    });
  });
}

function sourceOf({ expect, baseline, machine, tolerance }: CheckOptions): Source {
  const given = [expect, baseline, machine].filter((one) => one !== undefined);
  if (given.length > 1) {
    throw new WeftError('BAD_USAGE', 'give one of --expect, --baseline and --machine');
  }
  if (expect !== undefined) {
    return { kind: 'file', expectations: readExpectations(expect), against: expect };
  }
  if (baseline !== undefined) {
    return { kind: 'baseline', runs: readSide(baseline), tolerance: tolerance / 100 };
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
  show: ShowOptions,
): Promise<number> {
  const runs: Run[] = [];
  const notes: string[] = [];
  for (const { benchmark, settings } of entries) {
    const progress = new Progress(benchmark.id, show.quiet || world.rank !== 0);
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
  return world.rank === 0 ? tell(judge(source, runs, notes), options, show) : exitCode.ok;
}

function judge(source: Source, all: readonly Run[], notes: readonly string[]): Verdict {
  const runs = all.map(mergeRepeats);
  const always = [...judgeSoundness(runs), ...judgeDiagnoses(runs)];
  const { against, items } = judgeBySource(source, all, runs);
  return verdictOf({ against, items: [...always, ...items], runs, notes });
}

function judgeBySource(
  source: Source,
  all: readonly Run[],
  merged: readonly Run[],
): { against: string; items: Item[] } {
  switch (source.kind) {
    case 'file':
      return {
        against: source.against,
        items: judgeExpectations(source.expectations, merged),
      };
    case 'baseline': {
      const same = all.filter((run) => run.benchmark === source.runs[0]!.benchmark);
      const against = `the baseline ${source.runs.map((run) => run.id).join(', ')}`;
      if (same.length === 0) {
        throw new WeftError(
          'BAD_USAGE',
          `no run of ${source.runs[0]!.benchmark} to hold against it`,
        );
      }
      return { against, items: judgeComparison(compareRuns(source.runs, same, source.tolerance)) };
    }
    case 'machine':
      return {
        against: describeMachine(source.machine),
        items: judgeByMachine(source.machine, merged),
      };
    case 'none':
      return {
        against: 'the median of its own pairs, and 80 % of the bound where line rates are known',
        items: judgeByBound(merged),
      };
  }
}

/** Prints the verdict; the exit code follows from it. */
function tell(verdict: Verdict, { metrics, all }: CheckOptions, { format }: ShowOptions): number {
  if (metrics !== undefined) {
    // The collector may read at any moment: it sees the old file or the new one.
    writeFileSync(`${metrics}.part`, formatMetrics(verdict, new Date()));
    renameSync(`${metrics}.part`, metrics);
  }
  const text =
    format === 'json'
      ? `${JSON.stringify(verdict, null, 2)}\n`
      : formatVerdict(verdict, { ...stdoutTerminal(), all });
  process.stdout.write(text);
  return verdict.grade === 'pass' ? exitCode.ok : exitCode.verdict;
}
