import type { Command } from 'commander';
import { loadSuite } from '../bench/suite.js';
import { WeftError } from '../errors.js';
import { measureAndPrint, preflight } from './bench.js';
import { addShowOptions, readShow } from './bench-options.js';
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
    const entries = loadSuite(file);
    if (show.out !== undefined) {
      throw new WeftError('BAD_USAGE', '--out names one file, and a suite writes several', {
        hint: 'Leave it out: they go to weft-results/.',
      });
    }
    process.exitCode = await inRanks({
      show,
      preflight: () => {
        for (const { settings } of entries) preflight(settings);
      },
      pin: 'auto',
      timeoutMs: Math.max(...entries.map((entry) => entry.settings.timeoutMs)),
      work: async (world) => {
        const codes: number[] = [];
        for (const { benchmark, settings } of entries) {
          codes.push(await measureAndPrint(benchmark, world, settings, show));
          if (world.rank === 0 && show.format === 'table') process.stdout.write('\n');
          world.signal.throwIfAborted();
        }
        // What could not run here does not spoil what could.
        return codes.every((code) => code === exitCode.nothing)
          ? exitCode.nothing
          : (codes.find((code) => code !== exitCode.ok && code !== exitCode.nothing) ??
              exitCode.ok);
      },
    });
  });
}
