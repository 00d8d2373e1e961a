import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { WeftError } from '../errors.js';
import { loadLibrary } from '../fabric/library.js';
import { findOffers } from '../fabric/providers.js';
import { explain } from '../plan/explain.js';
import { formatRun } from '../results/formats/format-run.js';
import { formatNcclJson } from '../results/formats/nccl-json.js';
import type { Outcome } from '../results/schema.js';
import { type Benchmark, isPlanned, usesFabric } from '../runner/benchmark.js';
import { type Recorded, recordRun } from '../runner/record-run.js';
import { columnsOf, type Settings, sizesOf } from '../runner/settings.js';
import { preferredPacing } from '../session/session.js';
import type { World } from '../world/index.js';
import {
  addBenchOptions,
  defaultRanks,
  readBenchOptions,
  type ShowOptions,
} from './bench-options.js';
import { describeFailure, exitCode, exitCodeOf } from './failure.js';
import { inRanks } from './in-ranks.js';
import { Progress } from './progress.js';
import { stdoutTerminal } from './terminal.js';

/** The command of one benchmark. */
export function addBenchCommand(program: Command, benchmark: Benchmark): void {
  const command = program.command(benchmark.id).description(benchmark.summary);
  addBenchOptions(command, benchmark).action(async (raw: unknown) => {
    const { settings, show } = readBenchOptions(raw, benchmark);
    const ranks = show.ranks ?? benchmark.ranks.usual ?? defaultRanks;
    check(benchmark, settings, ranks);
    if (show.explain) {
      process.stdout.write(`${explainAll(benchmark, settings, ranks)}\n`);
      return;
    }
    process.exitCode = await inRanks({
      show,
      localRanks: ranks,
      preflight: () => {
        benchmark.preflight?.(settings);
        if (usesFabric(benchmark)) preflight(settings);
      },
      pin: settings.pin,
      gpus: settings.gpus,
      timeoutMs: settings.timeoutMs,
      work: (world) => measureAndPrint(benchmark, world, settings, show),
    });
  });
}

/** Bad usage is found before any rank is started. */
function check(benchmark: Benchmark, settings: Settings, ranks: number): void {
  sizesOf(settings);
  columnsOf(benchmark, settings.columns);
  benchmark.check?.(settings);
  if (settings.buffers !== undefined && !benchmark.takesBuffers) {
    throw new WeftError('BAD_USAGE', `--buffers means nothing to ${benchmark.id}`, {
      hint: 'It is for write.',
    });
  }
  if (ranks < benchmark.ranks.min) {
    throw new WeftError(
      'BAD_USAGE',
      `${benchmark.id} needs at least ${benchmark.ranks.min} ranks`,
      {
        hint: `Use --ranks ${benchmark.ranks.min} or more.`,
      },
    );
  }
}

/** What one process can find out for all local ranks is said once. */
export function preflight({ provider, nics, channels }: Settings): void {
  loadLibrary();
  if (provider === undefined) return;
  findOffers({ provider, ...(nics && { nics }), ...(channels !== undefined && { channels }) });
}

/** Runs a benchmark and, on rank 0, prints it. The exit code is the outcome's. */
export async function measureAndPrint(
  benchmark: Benchmark,
  world: World,
  settings: Settings,
  show: ShowOptions,
): Promise<number> {
  const progress = new Progress(benchmark.id, show.quiet || world.rank !== 0);
  const { out } = show;
  const options = {
    benchmark,
    world,
    settings,
    listener: progress,
    ...(out !== undefined && { out }),
  };
  try {
    const recorded = await recordRun(options);
    progress.end();
    return recorded ? print(recorded, show) : exitCode.ok;
  } finally {
    progress.end();
  }
}

const codeOfOutcome: Record<Outcome, number> = {
  passed: exitCode.ok,
  failed: exitCode.failed,
  aborted: exitCode.failed,
  skipped: exitCode.nothing,
};

/** Prints a run on rank 0; the exit code is its outcome's. */
export function print({ run, path, error }: Recorded, show: ShowOptions): number {
  const text = formatRun(run, show.format, stdoutTerminal());
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
  if (show.format === 'table' && !show.quiet) process.stdout.write(`${path}\n`);
  if (show.ncclJson !== undefined) {
    writeFileSync(show.ncclJson, formatNcclJson(run, { args: process.argv.slice(2) }));
  }
  if (error === undefined) return codeOfOutcome[run.outcome];
  process.stderr.write(`${describeFailure(error, show.verbose)}\n`);
  return exitCodeOf(error) || exitCode.failed;
}

/** The plans of the largest size, one drawing per strategy. */
export function explainAll(benchmark: Benchmark, settings: Settings, world: number): string {
  if (!isPlanned(benchmark)) {
    throw new WeftError('BAD_USAGE', `${benchmark.id} is not one plan that could be drawn`, {
      hint: 'sendrecv, write and all2all can be explained.',
    });
  }
  const bytes = sizesOf(settings).at(-1)!;
  const channels = settings.channels ?? settings.nics?.length ?? 1;
  const links = Array.from({ length: channels }, (_, channel) => ({
    nic: settings.nics?.[channel],
    lineRateGbps: settings.lineRateGbps,
  }));
  const strategies = new Set(columnsOf(benchmark, settings.columns).map((one) => one.strategy));
  return [...strategies]
    .map((strategy) => {
      const [turn] = benchmark.turns({ world, bytes, strategy, buffers: settings.buffers });
      const pacing = preferredPacing(settings.provider ?? 'shm');
      const chunkBytes = benchmark.wholeMessages
        ? bytes
        : (settings.chunkBytes ?? pacing.chunkBytes);
      return explain({
        traffic: turn!.traffic,
        strategy,
        links,
        unicode: stdoutTerminal().unicode,
        chunkBytes: Math.max(1, chunkBytes),
        window: settings.window ?? pacing.window,
      });
    })
    .join('\n');
}
