import { Command } from 'commander';
import { type SoakVerdict, soakVerdict } from '../analysis/soak/verdict.js';
import { WeftError } from '../errors.js';
import { formatSoak } from '../results/formats/soak.js';
import type { Benchmark } from '../runner/benchmark.js';
import { optionsOf } from '../runner/benchmark.js';
import type { Job } from '../runner/job.js';
import type { Recorded } from '../runner/record-run.js';
import type { Stop } from '../runner/soak/course.js';
import { recordSoak } from '../runner/soak/record-soak.js';
import { soakJobOf } from '../runner/soak/soak-job.js';
import { type SoakSettings, soakOptions } from '../settings/soak.js';
import type { World } from '../world/index.js';
import { reportPatience } from '../world/launch/rank-process.js';
import { describeBenchmark, rankJob } from './bench.js';
import { explainJob } from './explain.js';
import { findBenchmark } from './find-benchmark.js';
import { inRanks, type RankJob } from './in-ranks.js';
import { writeRunMetrics } from './measure-and-print.js';
import { addOptions, givenOptions, readOptions } from './options.js';
import { describeFailure, exitCode, exitCodeOf } from './output/failure.js';
import { withFlags } from './output/flags.js';
import { printError, printOut } from './output/print.js';
import { SoakProgress } from './output/soak-progress.js';
import { stdoutTerminal } from './output/terminal.js';
import { formatOption, type ShowOptions, showOptions } from './show-options.js';

const { ncclJson: _, explain: __, format: ___, ...shown } = showOptions;
const ownOptions = { ...soakOptions, ...shown, format: formatOption };

/** How long a soak that was told to end has for the loop it is in, and for its verdict. */
const endMs = 10_000;

/** `weft soak [options] -- BENCH [options]`: one benchmark for hours. */
export function addSoakCommand(program: Command): void {
  const command = program
    .command('soak')
    .summary('Run a benchmark for hours; find stalls and their causes.')
    .description('Run a benchmark for hours; report stalls, their causes and link failures.')
    .argument('<benchmark...>', 'benchmark and its options, e.g. -- write -b 16M')
    .usage('[options] -- <benchmark> [benchmark options]')
    .passThroughOptions();
  addOptions(command, ownOptions).action(async (words: string[], raw: unknown) => {
    const [name = '', ...rest] = words;
    const benchmark = await findBenchmark(name);
    const bench = new Command(`weft soak -- ${name}`).copyInheritedSettings(program);
    const act = (ofBench: unknown) => soak(benchmark, raw, ofBench);
    await describeBenchmark(bench, benchmark, act).parseAsync(rest, { from: 'user' });
  });
}

async function soak(benchmark: Benchmark, raw: unknown, ofBench: unknown): Promise<number> {
  const { forMs, everyMs, reopen, stall } = readOptions(raw, soakOptions);
  const settings: SoakSettings = {
    ...{ everyMs, reopen },
    ...(forMs !== undefined && { forMs }),
    ...(stall !== undefined && { stall }),
  };
  // Ranks and output may be asked for on either side of the `--`.
  const show = { ...readOptions(raw, showOptions), ...givenOptions(ofBench, showOptions) };
  refuse(show);
  const job = soakJobOf(benchmark, givenOptions(ofBench, optionsOf(benchmark)));
  const stop: Stop = {};
  const ranks = rankJob(job, show, (world) => soakAndPrint(job, settings, world, show, stop));
  if (show.explain) {
    printOut(`${explainJob(job, ranks.localRanks())}\n`);
    return exitCode.ok;
  }
  return inRanks({ ...ranks, interrupted: stopping(stop) });
}

/** Ends the soak at the first signal. A terminal sends one and a parent another: only the same one again means haste. */
function stopping(stop: Stop): RankJob['interrupted'] {
  const seen = new Set<NodeJS.Signals>();
  return (signal, world) => {
    if (seen.has(signal)) return false;
    seen.add(signal);
    if (stop.signal !== undefined) return true;
    stop.signal = signal;
    const late = `rank ${world.rank} received ${signal} but did not stop within ${endMs / 1000} s`;
    const end = setTimeout(() => void world.fail(new WeftError('ABORTED', late)), endMs);
    world.signal.addEventListener('abort', () => clearTimeout(end));
    stop.ended = () => clearTimeout(end);
    return true;
  };
}

function refuse({ format, ncclJson }: Pick<ShowOptions, 'format' | 'ncclJson'>): void {
  if (format !== 'table' && format !== 'json') {
    throw new WeftError('BAD_USAGE', `soak cannot print ${format}`, {
      hint: 'Use --format table or json. For charts, pass the run file to weft report or weft plot.',
    });
  }
  if (ncclJson !== undefined) {
    throw new WeftError('BAD_USAGE', '--nccl-json has no effect on soak', {
      hint: 'Leave it out.',
    });
  }
}

async function soakAndPrint(
  job: Job,
  settings: SoakSettings,
  world: World,
  show: ShowOptions,
  stop: Stop,
): Promise<number> {
  reportPatience(2 * endMs);
  try {
    const listener = new SoakProgress(show.quiet || world.rank !== 0);
    const { out, iface } = show;
    const options = { job, world, soak: settings, stop, out, iface, listener };
    const tell = (recorded: Recorded) => {
      const code = print(recorded, show);
      writeRunMetrics([recorded.run], show);
      return code;
    };
    return (await recordSoak(options, tell)) ?? exitCode.ok;
  } finally {
    stop.ended?.();
  }
}

const codes: Record<SoakVerdict['verdict'], number> = {
  steady: exitCode.ok,
  stalls: exitCode.verdict,
  slower: exitCode.verdict,
  failed: exitCode.failed,
  nothing: exitCode.nothing,
};

function print({ run, path, error }: Recorded, show: ShowOptions): number {
  const verdict = soakVerdict(run);
  if (show.format === 'json') {
    printOut(`${JSON.stringify({ ...verdict, file: path }, null, 2)}\n`);
  } else {
    const options = { ...stdoutTerminal(), verbose: show.verbose };
    printOut(withFlags(formatSoak(run, verdict, options)));
    if (!show.quiet) printOut(`${path}\n`);
  }
  if (error === undefined) return codes[verdict.verdict];
  printError(`${describeFailure(error, show.verbose)}\n`);
  return exitCodeOf(error) || exitCode.failed;
}
