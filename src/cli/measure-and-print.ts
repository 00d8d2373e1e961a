import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { clockText } from '../analysis/soak/words.js';
import { type Format, runPieces } from '../results/formats/format-run.js';
import { formatNoRun, formatRunMetrics } from '../results/formats/metrics.js';
import { ncclJsonPieces } from '../results/formats/nccl-json.js';
import { isLarge } from '../results/large-matrix.js';
import { rowsInFile } from '../results/read-run.js';
import type { Outcome, Run } from '../results/schema.js';
import { everyoneSpeaks } from '../runner/benchmark.js';
import type { Job } from '../runner/job.js';
import { type Recorded, recordRun } from '../runner/record-run.js';
import type { World } from '../world/index.js';
import { describeFailure, exitCode, exitCodeOf } from './output/failure.js';
import { withFlags } from './output/flags.js';
import { printError, printOut, safeFor } from './output/print.js';
import { Progress } from './output/progress.js';
import { stdoutTerminal } from './output/terminal.js';
import { writeWhole } from './output/write-whole.js';
import type { ShowOptions } from './show-options.js';

/**
 * Runs a benchmark and, on rank 0, prints it. The exit code is the outcome's. `earlier` are the runs of the same command
 * before this one, which is added to them: metrics are of all of them.
 */
export async function measureAndPrint(
  job: Job,
  world: World,
  show: ShowOptions,
  earlier: Run[] = [],
): Promise<number> {
  const progress = new Progress(job.benchmark.id, show.quiet || world.rank !== 0);
  // What a program reads must not have a log in it.
  const log = show.format === 'table' ? printOut : printError;
  try {
    const recorded = await recordRun({
      job,
      world,
      listener: progress,
      out: show.out,
      iface: show.iface,
      say: (text) => {
        if (!show.quiet) log(`[${timestamp(new Date())}] ${text}\n`);
      },
    });
    progress.end();
    // The others' last lines come before the table, unless they have ended.
    if (recorded?.error === undefined && everyoneSpeaks(job.benchmark)) await world.barrier('log');
    if (recorded === undefined) return exitCode.ok;
    const code = await print(recorded, show, earlier.length === 0);
    earlier.push(recorded.run);
    writeRunMetrics(earlier, show);
    return code;
  } catch (error) {
    if (world.rank === 0 && earlier.length === 0) writeNoRun(job, show);
    throw error;
  } finally {
    progress.end();
  }
}

export function writeRunMetrics(runs: readonly Run[], { metrics }: ShowOptions): void {
  if (metrics !== undefined) writeWhole(metrics, formatRunMetrics(runs), '--metrics');
}

/** Metrics of a benchmark that did not get as far as a run, in place of those of the last one. */
export function writeNoRun({ benchmark }: Job, { metrics }: ShowOptions): void {
  if (metrics === undefined) return;
  writeWhole(metrics, formatNoRun(benchmark.id, new Date()), '--metrics');
}

const codeOfOutcome: Record<Outcome, number> = {
  passed: exitCode.ok,
  failed: exitCode.failed,
  aborted: exitCode.failed,
  skipped: exitCode.nothing,
};

async function print(
  { run, path, error }: Recorded,
  show: ShowOptions,
  first: boolean,
): Promise<number> {
  const { format, verbose } = show;
  // What is in memory of a large matrix has no samples.
  const rows = isLarge(run.world) && { rows: rowsInFile(path) };
  const pieces = runPieces(run, format, { ...stdoutTerminal(), verbose, ...rows });
  await pipeline(shown(pieces, format, first), process.stdout, { end: false });
  if (format === 'table' && !show.quiet) printOut(`${path}\n`);
  if (show.ncclJson !== undefined) {
    const args = process.argv.slice(2);
    await pipeline(ncclJsonPieces(run, { args }), createWriteStream(show.ncclJson));
  }
  if (error === undefined) return codeOfOutcome[run.outcome];
  printError(`${describeFailure(error, show.verbose)}\n`);
  return exitCodeOf(error) || exitCode.failed;
}

function* shown(pieces: Iterable<string>, format: Format, first: boolean): Generator<string> {
  let head = true;
  for (const piece of pieces) {
    // One file of CSV has one line of heads, however many runs it holds.
    const again = head && !first && format === 'csv';
    head = false;
    if (!again) yield safeFor(process.stdout, format === 'table' ? withFlags(piece) : piece);
  }
}

/** `2026-11-07 09:30:12.045`, local time. */
export const timestamp = (at: Date): string =>
  `${clockText(at.toISOString(), true)}.${String(at.getMilliseconds()).padStart(3, '0')}`;
