import { Command, CommanderError } from 'commander';
import { benchmarks } from '../benchmarks/index.js';
import { version } from '../world/process-facts.js';
import { addAbCommand } from './ab.js';
import { addAdviseCommand } from './advise.js';
import { describeBenchmark } from './bench.js';
import { addBundleCommand } from './bundle.js';
import { addCheckCommand } from './check.js';
import { addCompareCommand } from './compare.js';
import { addEmulateCommand } from './emulate.js';
import { addGateCommand } from './gate.js';
import { addHistoryCommand } from './history.js';
import { addInfoCommand } from './info.js';
import { addK8sCommand } from './k8s.js';
import { addLabCommand } from './lab.js';
import { addListCommand } from './list.js';
import { describeFailure, exitCode, exitCodeOf, forTerminal } from './output/failure.js';
import { printError } from './output/print.js';
import { addPlotCommand } from './plot.js';
import { addPredictCommand } from './predict.js';
import { addReportCommand } from './report.js';
import { addRunCommand } from './run.js';
import { addSbatchCommand } from './sbatch.js';
import { addServeCommand } from './serve.js';
import { addSoakCommand } from './soak.js';
import { addSuiteCommand } from './suite.js';

// Whoever reads us may stop early, as `head` does.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(exitCode.ok);
});

const program = new Command('weft')
  .description('Measure the fabric between processes, hosts and GPUs; check every byte.')
  .version(version)
  .showHelpAfterError('(run weft --help or weft COMMAND --help for usage)')
  .configureOutput({ outputError: (text, write) => write(`${forTerminal(text).join('\n')}\n`) })
  .enablePositionalOptions()
  .exitOverride();
addInfoCommand(program);
addListCommand(program);
for (const benchmark of benchmarks) describeBenchmark(program.command(benchmark.id), benchmark);
addRunCommand(program);
addSuiteCommand(program);
addSoakCommand(program);
addCheckCommand(program);
addGateCommand(program);
addCompareCommand(program);
addAbCommand(program);
addHistoryCommand(program);
addPredictCommand(program);
addAdviseCommand(program);
addReportCommand(program);
addPlotCommand(program);
addSbatchCommand(program);
addK8sCommand(program);
addLabCommand(program);
addEmulateCommand(program);
addBundleCommand(program);
addServeCommand(program);
// Bad usage is the same on every rank that a parent started: one of them says so.
if ((process.env.WEFT_RANK ?? '0') !== '0') silence(program);

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? exitCode.ok : exitCode.usage;
  } else {
    printError(`${describeFailure(error, process.argv.includes('--verbose'))}\n`);
    process.exitCode = exitCodeOf(error);
  }
}

function silence(command: Command): void {
  command.configureOutput({ writeErr: () => {}, outputError: () => {} });
  for (const sub of command.commands) silence(sub);
}
