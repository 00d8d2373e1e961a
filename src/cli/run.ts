import { Command } from 'commander';
import { describeBenchmark } from './bench.js';
import { loadBenchmark } from './find-benchmark.js';

/** `weft run FILE.mjs`: a user's own benchmark, with everything that built-in ones have. */
export function addRunCommand(program: Command): void {
  program
    .command('run')
    .argument('<file>', 'JavaScript module whose default export is a benchmark')
    .argument('[options...]', 'options of that benchmark; `weft run FILE --help` lists them')
    .description('Run a benchmark of your own.')
    .usage('<file> [options]')
    .allowUnknownOption()
    .passThroughOptions()
    .helpOption(false)
    .action(async (file: string, words: string[], _options: unknown, run: Command) => {
      // Help of its own before there is a benchmark, that of the benchmark after.
      if (file === '--help' || file === '-h') return run.outputHelp();
      const benchmark = await loadBenchmark(file);
      const command = new Command(`weft run ${file}`).copyInheritedSettings(program);
      await describeBenchmark(command, benchmark).parseAsync(words, { from: 'user' });
    });
}
