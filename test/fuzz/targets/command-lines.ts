import { writeFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { benchmarks } from '../../../src/benchmarks/index.js';
import { addAbCommand } from '../../../src/cli/ab.js';
import { addAdviseCommand } from '../../../src/cli/advise.js';
import { describeBenchmark } from '../../../src/cli/bench.js';
import { addCheckCommand } from '../../../src/cli/check.js';
import { addCompareCommand } from '../../../src/cli/compare.js';
import { addEmulateCommand } from '../../../src/cli/emulate.js';
import { explainJob } from '../../../src/cli/explain.js';
import { addGateCommand } from '../../../src/cli/gate.js';
import { addHistoryCommand } from '../../../src/cli/history.js';
import { addInfoCommand } from '../../../src/cli/info.js';
import { addK8sCommand } from '../../../src/cli/k8s.js';
import { addLabCommand } from '../../../src/cli/lab.js';
import { readSpec } from '../../../src/cli/lab-options.js';
import { addListCommand } from '../../../src/cli/list.js';
import { givenOptions, readOptions } from '../../../src/cli/options.js';
import { addPlotCommand } from '../../../src/cli/plot.js';
import { addPredictCommand } from '../../../src/cli/predict.js';
import { addReportCommand } from '../../../src/cli/report.js';
import { addRunCommand } from '../../../src/cli/run.js';
import { addSbatchCommand } from '../../../src/cli/sbatch.js';
import { addServeCommand } from '../../../src/cli/serve.js';
import { showOptions } from '../../../src/cli/show-options.js';
import { addSoakCommand } from '../../../src/cli/soak.js';
import { addSuiteCommand } from '../../../src/cli/suite.js';
import { isWeftError } from '../../../src/errors.js';
import { RunFile } from '../../../src/results/run-file.js';
import { type Benchmark, optionsOf } from '../../../src/runner/benchmark.js';
import { jobOf } from '../../../src/runner/job.js';
import { identify } from '../../../src/world/identity.js';
import { writeRun } from '../../results/fixtures.js';
import * as launchers from '../../world/launcher-environments.js';
import type { Dice } from '../dice.js';
import { mutateText, oddText } from '../mutate.js';
import type { Target } from '../target.js';

const quiet = { writeOut: () => {}, writeErr: () => {}, outputError: () => {} };

/** What reads files and prints, and starts nothing: done as it is asked for. */
const acting = [
  addCompareCommand,
  addHistoryCommand,
  addInfoCommand,
  addK8sCommand,
  addListCommand,
  addPlotCommand,
];
acting.push(addPredictCommand, addReportCommand, addSbatchCommand, addSuiteCommand);
/** What starts ranks, hosts, programs or a server: only its options are read. */
const starting = [addAbCommand, addAdviseCommand, addCheckCommand, addGateCommand, addServeCommand];
starting.push(addEmulateCommand, addLabCommand, addRunCommand, addSoakCommand);

/** The commands as the program has them. Benchmarks draw their plans. */
function weft(): Command {
  const program = new Command('weft').configureOutput(quiet).enablePositionalOptions();
  program.exitOverride();
  for (const add of starting) add(program);
  for (const command of everyCommand(program)) {
    if (command.commands.length === 0) command.action(() => void readSpec(command.opts()));
  }
  for (const add of acting) add(program);
  for (const benchmark of benchmarks) {
    describeBenchmark(program.command(benchmark.id), benchmark, async (raw) =>
      explain(benchmark, raw),
    );
  }
  return program;
}

/** Files that the lines name, in the folder of this process. */
function lay(): void {
  for (const path of ['a.jsonl', 'b.jsonl', 'folder/c.jsonl']) {
    const { rows, endedAt, outcome, errors, diagnosis: _, ...header } = writeRun();
    const file = new RunFile(header, { path });
    file.append(...rows);
    file.finish({ endedAt: endedAt!, outcome, errors });
  }
  writeFileSync('suite.yaml', '- benchmark: write\n  maxBytes: 64K\n');
  writeFileSync('topology.xml', '<topology><object type="Machine"/></topology>');
}

/** Nothing but the result of this process may be on its stdout, and no other program may start. */
async function behindDoors(work: () => Promise<unknown>): Promise<void> {
  const { write } = process.stdout;
  process.stdout.write = ((...args: unknown[]) => {
    const last = args.at(-1);
    if (typeof last === 'function') queueMicrotask(() => last());
    return true;
  }) as typeof write;
  const { PATH } = process.env;
  process.env.PATH = '';
  try {
    await work();
  } finally {
    process.stdout.write = write;
    process.env.PATH = PATH;
  }
}

const everyCommand = (command: Command): Command[] =>
  command.commands.flatMap((one) => [one, ...everyCommand(one)]);

/** Drawings of many ranks take their time. */
const mostRanks = 16;

function explain(benchmark: Benchmark, raw: unknown): number {
  const { ranks = 4 } = readOptions(raw, showOptions);
  const job = jobOf(benchmark, givenOptions(raw, optionsOf(benchmark)));
  if (ranks >= benchmark.ranks.min && ranks <= mostRanks) explainJob(job, ranks);
  return 0;
}

let program: Command;

const lines = [
  'write --ranks 4 -b 64K -e 1M --columns SinglePin,MultiPin --channels 2 --line-rate 100',
  'all2all -b 4M -e 4M -f 2 --nics a,b --format json --timeout 5 --chunk 64K --window 8',
  'sendrecv -i 64K -e 256K -n 10 -w 2 -c 0 --provider shm --repeats 2 --quiet',
  'moe --routing zipf:1.2 --experts 8 --top-k 2 --tokens 64',
  'kv --columns Push --seed 3',
  'incast --ranks 4',
  'victim --ranks 6',
  'all-to-all-single --dtype int32 --backend fabric --imbalance zipf:1',
  'predict all2all --fabric p5 --nodes 2..8 --bytes 1M..4M --fault host 1 nic 1 rate 50%',
  'compare a.jsonl b.jsonl --tolerance 3 --drift 2',
  'history folder --since 30d --benchmark write',
  'report a.jsonl b.jsonl -o page.html',
  'plot a.jsonl -o chart.svg --kind bandwidth',
  'suite suite.yaml --format json',
  'info --topology topology.xml --format json',
  'advise --bytes 1M',
  'soak --for 8h --every 1m -- write -b 1M',
  'ab --a --provider shm --b --provider tcp -- write',
  'sbatch --nodes 2 --ranks-per-node 4 -- all2all -b 16M',
  'k8s --nodes 2 --image weft -- write',
  'gate --ranks 2 --min-gbps 1',
  'check --expect file.yaml --tolerance 5',
  'serve folder --port 8080 --host 127.0.0.1',
  'list --format json',
  'lab up --hosts 4 --nics 2 --rate 250mbit --leaves 2 --spine-rate 1gbit --mtu 9000 --queue 2ms',
  'lab up --name a --congestion bbr --delay 200us --loss 0.1% --efa p5',
  'lab down --name a --force',
  'lab status --format json',
  'lab run --ranks-per-host 2 --on h0,h[2-3] --hosts 4 --verbose -- write -b 16M',
  'lab fault --host 1 --nic 0 --rate 25mbit --loss 2 --down --direction out --device drop=0.1',
  'lab heal --host 1 --nic 0 --name a',
  'emulate efa --machine p5 --nics 4 --caps read,rnr --fault 0:drop=0.1 --seed 2 --gpus -- info',
  'run file.mjs --ranks 2 -b 64K',
].map((line) => line.split(' '));

function brokenLine(dice: Dice): string[] {
  const line = [...dice.pick(lines)];
  for (let count = 1 + dice.length(4); count > 0; count--) {
    const at = dice.below(line.length);
    const other = dice.pick(dice.pick(lines));
    const word = dice.pick([oddText(dice), other, mutateText(dice, line[at] ?? '')]);
    // The command itself stays, most of the time.
    line.splice(dice.chance(0.95) ? Math.max(1, at) : at, dice.below(2), word);
  }
  return safe(line);
}

/** Only files of this folder, no world that takes minutes to simulate, and no job. */
function safe(line: string[]): string[] {
  const words = line.map((word) =>
    word.replaceAll(/[/\0]/g, '_').replaceAll(/\d{4,}/g, (number) => number.slice(0, 3)),
  );
  const [command] = words;
  const short = command === 'predict' ? words : line.map((word) => word.replaceAll(/[/\0]/g, '_'));
  return command === 'suite' ? [...short, '--explain', '--ranks', '4'] : short;
}

const { batchScript, salloc, step, torchrun, openmpi, mpich, local } = launchers;
const { indexed, pytorchJob, trainJob } = launchers;
const jobSet = { JOBSET_JOB_INDEX: '1', JOBSET_REPLICAS: '2', JOBSET_RESTART_ATTEMPT: '1' };
const nodes = { WEFT_NODES: 'node[1-4]', WEFT_NODE: 'node2', WEFT_JOB: 'j', MASTER_PORT: '29500' };
const environments = [
  nodes,
  ...[torchrun(1, 4), step(1, 4), openmpi(1, 4), mpich(1, 4), local(1), batchScript, salloc],
  ...[indexed(1, 4, 2), { ...indexed(1, 4), ...jobSet }],
  ...[pytorchJob(1, 2, 4), trainJob(1, 2, '4')],
];

function brokenEnvironment(dice: Dice): Record<string, string> {
  const entries = Object.entries(dice.pick(environments) as Record<string, string>).map(
    ([name, value]) => [name, dice.chance(0.1) ? mutateText(dice, value) : value],
  );
  return Object.fromEntries(entries.filter(() => dice.chance(0.97)));
}

const isRefusal = (error: unknown) => error instanceof CommanderError || isWeftError(error);

/** Command lines, and what launchers say in the environment. */
export const commandLines: Target = {
  name: 'command-lines',
  share: 60,
  open: async () => {
    lay();
    program = weft();
    return () => {};
  },
  make: (dice) => {
    if (dice.chance(0.2)) {
      const env = brokenEnvironment(dice);
      return { shown: JSON.stringify(env), run: () => identify(env), isRefusal };
    }
    const line = brokenLine(dice);
    return {
      shown: JSON.stringify(line),
      run: () => behindDoors(() => program.parseAsync(line, { from: 'user' })),
      isRefusal,
    };
  },
};
