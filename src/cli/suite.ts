import type { Command } from 'commander';
import { benchmarkById } from '../benchmarks/index.js';
import { isWeftError, WeftError } from '../errors.js';
import { loadLibrary } from '../fabric/library.js';
import { usesFabric } from '../runner/benchmark.js';
import type { Settings } from '../runner/settings.js';
import { loadSuite, type SuiteEntry } from '../runner/suite.js';
import { onOneHost } from '../session/choose-fabric.js';
import type { World } from '../world/index.js';
import { explainAll, measureAndPrint, preflight } from './bench.js';
import { addShowOptions, defaultRanks, readShow, type ShowOptions } from './bench-options.js';
import { exitCode } from './failure.js';
import { inRanks } from './in-ranks.js';

/** `weft suite [FILE]`: several benchmarks in one job, one table and one run file each. */
export function addSuiteCommand(program: Command): void {
  const command = program
    .command('suite')
    .argument('[file]', 'a YAML file (default: sendrecv, write and all2all over shm and tcp)')
    .description('Several benchmarks, one after the other.');
  addShowOptions(command).action(async (file: string | undefined, raw: unknown) => {
    const show = readShow(raw);
    const entries = loadSuite(file, benchmarkById);
    if (show.out !== undefined || show.ncclJson !== undefined) {
      throw new WeftError('BAD_USAGE', '--out and --nccl-json name one file; a suite has several', {
        hint: 'Leave them out: runs go to weft-results/.',
      });
    }
    if (show.explain) {
      const drawings = entries.map(({ benchmark, settings }) =>
        explainAll(benchmark, settings, show.ranks ?? defaultRanks),
      );
      process.stdout.write(`${drawings.join('\n')}\n`);
      return;
    }
    process.exitCode = await inRanks({
      show,
      localRanks: show.ranks ?? defaultRanks,
      preflight: loadLibrary,
      pin: 'auto',
      timeoutMs: Math.max(...entries.map((entry) => entry.settings.timeoutMs)),
      work: (world) => runEntries(entries, world, show),
    });
  });
}

/** What could not run here does not spoil what could. */
async function runEntries(
  entries: readonly SuiteEntry[],
  world: World,
  show: ShowOptions,
): Promise<number> {
  const codes: number[] = [];
  for (const { benchmark, settings } of entries) {
    const missing = usesFabric(benchmark)
      ? (missingHere(settings) ?? misplaced(settings, world))
      : undefined;
    if (missing !== undefined) {
      if (world.rank === 0) process.stderr.write(`weft: skipped ${benchmark.id}: ${missing}\n`);
      codes.push(exitCode.nothing);
      continue;
    }
    codes.push(await measureAndPrint(benchmark, world, settings, show));
    if (world.rank === 0 && show.format === 'table') process.stdout.write('\n');
    world.signal.throwIfAborted();
  }
  if (world.rank === 0 && process.stderr.isTTY && !show.quiet) {
    process.stderr.write('`weft serve` shows these runs in a browser, with charts.\n');
  }
  const bad = codes.find((code) => code !== exitCode.ok && code !== exitCode.nothing);
  return bad ?? (codes.every((code) => code === exitCode.nothing) ? exitCode.nothing : exitCode.ok);
}

const misplaced = ({ provider }: Settings, world: World): string | undefined =>
  provider === 'shm' && !onOneHost(world) ? 'shm cannot join ranks of several hosts' : undefined;

function missingHere(settings: Settings): string | undefined {
  try {
    preflight(settings);
    return undefined;
  } catch (error) {
    if (isWeftError(error, 'NO_PROVIDER')) return error.message;
    throw error;
  }
}
