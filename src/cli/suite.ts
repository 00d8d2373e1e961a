import type { Command } from 'commander';
import { isWeftError, WeftError } from '../errors.js';
import { loadLibrary } from '../fabric/library.js';
import type { Run } from '../results/schema.js';
import { agreeOnJobs } from '../runner/agree-on-inputs.js';
import { usesFabric } from '../runner/benchmark.js';
import type { Job } from '../runner/job.js';
import { loadSuite } from '../runner/suite.js';
import type { Settings } from '../settings/table.js';
import type { World } from '../world/index.js';
import { onOneHost } from '../world/same-host.js';
import { preflight } from './bench.js';
import { explainJob } from './explain.js';
import { findBenchmark } from './find-benchmark.js';
import { inRanks } from './in-ranks.js';
import { measureAndPrint } from './measure-and-print.js';
import { addOptions, readOptions } from './options.js';
import { exitCode } from './output/failure.js';
import { printError, printOut } from './output/print.js';
import { defaultRanks, type ShowOptions, showOptions } from './show-options.js';

/** `weft suite [FILE]`: several benchmarks in one job, one table and one run file each. */
export function addSuiteCommand(program: Command): void {
  const command = program
    .command('suite')
    .argument('[file]', 'YAML file (default: sendrecv, write and all2all over shm and tcp)')
    .description('Run several benchmarks, one after the other.');
  addOptions(command, showOptions).action(async (file: string | undefined, raw: unknown) => {
    const show = readOptions(raw, showOptions);
    const jobs = await loadSuite(file, (name) => findBenchmark(name, file));
    if (show.out !== undefined || show.ncclJson !== undefined) {
      throw new WeftError(
        'BAD_USAGE',
        '--out and --nccl-json name one file, but a suite writes several',
        { hint: 'Leave them out: runs go to weft-results/.' },
      );
    }
    const ranks = show.ranks ?? defaultRanks;
    if (show.explain) {
      printOut(`${jobs.map((job) => explainJob(job, ranks)).join('\n')}\n`);
      return;
    }
    process.exitCode = await inRanks({
      show,
      localRanks: () => ranks,
      preflight: () => loadLibrary(),
      pin: 'auto',
      timeoutMs: Math.max(...jobs.map((job) => job.settings.timeoutMs)),
      work: (world) => runAll(jobs, world, show),
    });
  });
}

/** What could not run here does not spoil what could. */
async function runAll(jobs: readonly Job[], world: World, show: ShowOptions): Promise<number> {
  await agreeOnJobs(jobs, world);
  const codes: number[] = [];
  const runs: Run[] = [];
  for (const job of jobs) {
    const { benchmark, settings } = job;
    const missing = usesFabric(benchmark)
      ? ((await missingAnywhere(settings, world)) ?? misplaced(settings, world))
      : undefined;
    if (missing !== undefined) {
      if (world.rank === 0) printError(`weft: skipped ${benchmark.id}: ${missing}\n`);
      codes.push(exitCode.nothing);
      continue;
    }
    codes.push(await measureAndPrint(job, world, show, runs));
    if (world.rank === 0 && show.format === 'table') printOut('\n');
    world.signal.throwIfAborted();
  }
  if (world.rank === 0 && process.stderr.isTTY && !show.quiet) {
    printError('`weft serve` shows these runs in a browser, with charts.\n');
  }
  const bad = codes.find((code) => code !== exitCode.ok && code !== exitCode.nothing);
  return bad ?? (codes.every((code) => code === exitCode.nothing) ? exitCode.nothing : exitCode.ok);
}

const misplaced = ({ provider }: Settings, world: World): string | undefined =>
  provider === 'shm' && !onOneHost(world)
    ? 'shm cannot connect ranks on different hosts'
    : undefined;

/** All ranks skip a benchmark, or none: one that is alone in skipping it leaves the others waiting for it. */
async function missingAnywhere(settings: Settings, world: World): Promise<string | undefined> {
  const all = await world.allgather('what is missing', missingHere(settings) ?? null);
  const first = all.findIndex((missing) => missing !== null);
  if (first === -1) return undefined;
  const everywhere = all.every((missing) => missing === all[first]);
  return everywhere ? all[first]! : `on ${world.hosts[first]} (rank ${first}), ${all[first]}`;
}

function missingHere(settings: Settings): string | undefined {
  try {
    preflight(settings);
    return undefined;
  } catch (error) {
    if (isWeftError(error, 'NO_PROVIDER')) return error.message;
    throw error;
  }
}
