import { constants } from 'node:os';
import type { Command } from 'commander';
import { benchmarks } from '../benchmarks/index.js';
import { WeftError } from '../errors.js';
import { loadLibrary } from '../fabric/library.js';
import { findOffers } from '../fabric/providers.js';
import { type LauncherEnd, mpiLauncher, type RankLauncher } from '../peers/mpirun.js';
import {
  type Benchmark,
  commonKeysOf,
  everyoneSpeaks,
  isPlanned,
  optionsOf,
  usesFabric,
} from '../runner/benchmark.js';
import { type Job, jobOf, refusalOf } from '../runner/job.js';
import type { OptionTable } from '../settings/option.js';
import {
  type CommonKey,
  commonOptions,
  fabricOptions,
  measureOptions,
  type Settings,
} from '../settings/table.js';
import { explainJob } from './explain.js';
import { inRanks, type RankJob } from './in-ranks.js';
import { measureAndPrint, writeNoRun } from './measure-and-print.js';
import { addOptions, givenOptions, readOptions } from './options.js';
import { exitCode } from './output/failure.js';
import { printError, printOut } from './output/print.js';
import { recordOptions, recordTraffic } from './record-traffic.js';
import { defaultRanks, type ShowOptions, showOptions } from './show-options.js';

/** Makes a command that of a benchmark: its help, its options and what it does; `act` resolves with the exit code. */
export function describeBenchmark(
  command: Command,
  benchmark: Benchmark,
  act: (raw: unknown) => Promise<number> = (raw) => run(benchmark, raw),
): Command {
  const { sizes, defaults = {}, argument, options = {} } = benchmark;
  const { minBytes, maxBytes, factor: stepFactor } = sizes;
  command.description(benchmark.summary).usage(`${argument ? `<${argument}> ` : ''}[options]`);
  if (argument) command.argument(`[${argument}]`, options[argument]!.help);
  addOptions(command, options);
  const own = { minBytes, maxBytes, stepFactor, ...defaults };
  for (const [group, table] of [
    ['Measurement:', measureOptions],
    ['Fabric:', fabricOptions],
  ] as const) {
    addOptions(command, pick(table, commonKeysOf(benchmark)), { defaults: own, group });
  }
  addOptions(command, refusedBy(benchmark), { hidden: true });
  addOptions(command, showOptions, { group: 'Ranks and output:' });
  if (isPlanned(benchmark)) addOptions(command, recordOptions, { group: 'Ranks and output:' });
  return command.action(async (...words: unknown[]) => {
    const raw = withArgument(benchmark, words);
    for (const key of Object.keys(givenOptions(raw, refusedBy(benchmark)))) {
      const error = refusalOf(benchmark, key as CommonKey, benchmarks);
      if (error) throw error;
    }
    process.exitCode = await act(raw);
  });
}

/** What commander hands to an action: arguments, then the values of options. */
export function withArgument({ argument }: Benchmark, words: readonly unknown[]): object {
  const [first, values] = argument ? words : [undefined, words[0]];
  return { ...(argument && first !== undefined && { [argument]: first }), ...(values as object) };
}

/** Common options without effect are known, so that the error can say more than that they are unknown. */
function refusedBy(benchmark: Benchmark): OptionTable {
  const taken = commonKeysOf(benchmark);
  const refused = (Object.keys(commonOptions) as CommonKey[]).filter((key) => !taken.includes(key));
  return pick(commonOptions, refused);
}

const pick = (table: OptionTable, keys: readonly string[]): OptionTable =>
  Object.fromEntries(Object.entries(table).filter(([key]) => keys.includes(key)));

async function run(benchmark: Benchmark, raw: unknown): Promise<number> {
  const show = readOptions(raw, showOptions);
  const job = jobOf(benchmark, givenOptions(raw, optionsOf(benchmark)));
  const ranks = rankJob(job, show, (world) => measureAndPrint(job, world, show));
  if (show.explain) {
    printOut(`${explainJob(job, ranks.localRanks())}\n`);
    return exitCode.ok;
  }
  const { recordTraffic: file } = readOptions(raw, recordOptions);
  if (file !== undefined) {
    recordTraffic(job, ranks.localRanks(), file);
    return exitCode.ok;
  }
  return inRanks(ranks);
}

/** How the ranks of a job are started, and what they do. Throws where there are too few. */
export function rankJob(job: Job, show: ShowOptions, work: RankJob['work']): RankJob {
  const { benchmark, settings } = job;
  if (show.ranks !== undefined) refuseFewRanks(benchmark, show.ranks);
  return {
    show,
    localRanks: () => ranksOf(job, show),
    preflight: (ranks) => {
      try {
        refuseFewRanks(benchmark, ranks);
        benchmark.preflight?.(job, ranks);
        if (usesFabric(benchmark)) preflight(settings);
      } catch (error) {
        writeNoRun(job, show);
        throw error;
      }
    },
    pin: settings.pin,
    gpus: settings.gpus,
    timeoutMs: settings.timeoutMs,
    everyoneSpeaks: everyoneSpeaks(benchmark),
    launch: (ranks) => launchBy(job, ranks, show),
    work,
  };
}

const ranksOf = (job: Job, { ranks }: ShowOptions): number =>
  ranks ?? job.benchmark.usualRanks?.(job) ?? job.benchmark.ranks.usual ?? defaultRanks;

function refuseFewRanks({ id, ranks: { min } }: Benchmark, ranks: number): void {
  if (ranks >= min) return;
  throw new WeftError('BAD_USAGE', `${id} needs at least ${min} ranks`, {
    hint: `Use --ranks ${min} or more.`,
  });
}

/** What one process can find out for all local ranks is said once. */
export function preflight({ provider, nics, channels }: Settings): void {
  loadLibrary();
  if (provider === undefined) return;
  findOffers({ provider, nics, channels });
}

/** Starts the ranks of this machine in a benchmark's own way; undefined where it has none. */
function launchBy(job: Job, ranks: number, { quiet }: ShowOptions): Promise<number> | undefined {
  const launcher = launcherOf(job);
  if (!launcher) return undefined;
  if (!quiet) {
    printError(`weft: starting ${ranks} ranks with ${launcher.command}: ${launcher.reason}\n`);
  }
  const [, script = '', ...args] = process.argv;
  const command = { command: process.execPath, args: [script, ...args] };
  return launcher.start({ ranks, pin: job.settings.pin, ...command }).then((end) => {
    if (end.code === exitCode.ok) return exitCode.ok;
    if (!end.explained) {
      const why = end.stoppedBy
        ? `stopped by ${end.stoppedBy}`
        : `${launcher.command} ${howEnded(end)}, and no rank reported an error`;
      printError(`weft: ${why}\n`);
    }
    // A launcher makes a code of its own of a rank that was killed.
    const ours = Object.values<number>(exitCode).find((code) => code === end.code);
    return ours ?? exitCode.failed;
  });
}

function launcherOf(job: Job): RankLauncher | undefined {
  const { benchmark, settings } = job;
  if (isPlanned(benchmark)) return settings.against?.includes('mpi') ? mpiLauncher() : undefined;
  return benchmark.fabric === 'own' ? benchmark.launcher?.(job) : undefined;
}

/** Launchers, as shells, add 128 to the number of the signal that killed what they started. */
function howEnded({ code, signal }: LauncherEnd): string {
  if (signal !== undefined) return `was killed by ${signal}`;
  const byNumber = Object.entries(constants.signals).find(([, number]) => code === 128 + number);
  const why = byNumber === undefined ? '' : ` (a rank was killed by ${byNumber[0]})`;
  return `exited with code ${code}${why}`;
}
