import type { Command } from 'commander';
import { type Gate, type NodeGrade, worstOf } from '../analysis/gate/gate.js';
import { gateOf } from '../analysis/gate/of-run.js';
import { gate as benchmark, nodeName } from '../benchmarks/gate/gate.js';
import { isWeftError, WeftError } from '../errors.js';
import { formatGate, formatGateMetrics } from '../results/formats/gate.js';
import { formatNodePatch } from '../results/formats/node-patch.js';
import type { Benchmark } from '../runner/benchmark.js';
import { type Job, jobOf } from '../runner/job.js';
import { recordRun } from '../runner/record-run.js';
import {
  duration,
  flagOf,
  type OptionTable,
  onOff,
  option,
  text,
  type ValuesOf,
} from '../settings/option.js';
import { fabricOptions } from '../settings/table.js';
import type { Identity, World } from '../world/index.js';
import { onOneHost } from '../world/same-host.js';
import { failedGate } from './gate-failure.js';
import { isolateOptions, runIsolation } from './gate-isolate.js';
import { printOption, printPiece } from './gate-print.js';
import { inRanks } from './in-ranks.js';
import { addOptions, givenOptions, readOptions, wordsOf } from './options.js';
import { describeFailure, exitCode, exitCodeOf } from './output/failure.js';
import { printError, printOut } from './output/print.js';
import { Progress } from './output/progress.js';
import { stdoutTerminal } from './output/terminal.js';
import { writeWhole } from './output/write-whole.js';
import { defaultRanks, formatOption, metricsOption, rankOptions } from './show-options.js';

const gateOptions = {
  ...rankOptions,
  format: formatOption,
  own: onOff('--own', 'each rank reports and judges only its own node'),
  out: option({
    flags: '--out <file>',
    help: 'run file or record',
    kind: text,
    defaultText: 'new in weft-results/',
  }),
  metrics: metricsOption,
  nodePatch: option({
    flags: '--node-patch <file>',
    help: 'also write a patch for the Kubernetes nodes',
    kind: text,
  }),
  validFor: option({
    flags: '--valid-for <time>',
    help: 'how long the node patch is valid',
    kind: duration,
    default: 3_600_000,
  }),
};
type GateOptions = ValuesOf<typeof gateOptions>;

/** Options of the measurement itself. */
const measured: OptionTable = { ...benchmark.options, ...fabricOptions };

const { ranks, own, metrics, nodePatch, validFor, iface, tokenFile } = gateOptions;
/** What --isolate passes on to the gate of each try, and what it has no use for. */
const passedOn: OptionTable = { ...measured, iface, tokenFile };
const notIsolated: OptionTable = { ranks, own, metrics, nodePatch, validFor };

/** Joining and each exchange: a prolog must not hold up a job for a minute. */
const defaultTimeoutMs = 20_000;

/** `weft gate`: whether the nodes of a job may run it. */
export function addGateCommand(program: Command): void {
  const command = program
    .command('gate')
    .summary('Check the nodes of a job before it runs.')
    .description('Measure between the nodes of a job; exit with 4 if one is below expectations.')
    .argument('[command...]', 'with --isolate: command to try, e.g. -- srun -w {nodes} app')
    .passThroughOptions();
  addOptions(command, benchmark.options!);
  addOptions(command, gateOptions);
  addOptions(command, { print: printOption });
  addOptions(command, isolateOptions, { group: 'Isolation:' });
  const defaults = { timeoutMs: defaultTimeoutMs };
  addOptions(command, fabricOptions, { defaults, group: 'Fabric:' });
  command.action(async (words: string[], raw: unknown) => {
    process.exitCode = await act(words, raw);
  });
}

async function act(words: readonly string[], raw: unknown): Promise<number> {
  const { print } = readOptions(raw, { print: printOption });
  if (print !== undefined) return printPiece(print);
  const isolation = readOptions(raw, isolateOptions);
  const options = readOptions(raw, gateOptions);
  if (isolation.isolate) {
    refuseIdle(raw, notIsolated, 'with --isolate');
    if (words.length > 0) refuseIdle(raw, passedOn, 'on the command after --');
    return runIsolation(words, isolation, options, wordsOf(passedOn, givenOptions(raw, passedOn)));
  }
  if (words.length > 0) throw idle('a command', 'without --isolate');
  refuseIdle(raw, isolateOptions, 'without --isolate');
  const given = givenOptions(raw, measured);
  const job = jobOf(benchmark as Benchmark, { timeoutMs: defaultTimeoutMs, ...given });
  const { pin, timeoutMs, gpus } = job.settings;
  const startedMs = performance.now();
  return inRanks({
    show: options,
    localRanks: () => options.ranks ?? defaultRanks,
    preflight: () => undefined,
    ...{ pin, timeoutMs, gpus },
    work: (world) => measureAndTell(world, job, options),
    failed: (error, identity) => tellFailure(error, identity, options, startedMs),
  });
}

const idle = (what: string, where: string): WeftError =>
  new WeftError('BAD_USAGE', `${what} has no effect ${where}`, {
    hint: where === 'without --isolate' ? 'Add --isolate, or leave it out.' : 'Leave it out.',
  });

/** An option that would do nothing is a misunderstanding. */
function refuseIdle(raw: unknown, table: OptionTable, where: string): void {
  const [key] = Object.keys(givenOptions(raw, table));
  if (key !== undefined) throw idle(flagOf(table[key]!), where);
}

async function measureAndTell(world: World, job: Job, options: GateOptions): Promise<number> {
  const speaks = world.rank === 0 || options.own;
  if (onOneHost(world) && world.launcher !== 'local') {
    if (speaks) {
      printError('weft: the job has only one node; the gate needs at least two\n');
    }
    return exitCode.nothing;
  }
  const progress = new Progress('gate', options.quiet || world.rank !== 0);
  const recorded = await recordRun({ job, world, listener: progress, out: options.out });
  progress.end();
  if (recorded?.error !== undefined) throw recorded.error;
  const gate = await world.broadcast('verdict', recorded && gateOf(recorded.run));
  return speaks ? tell(gate!, options, nodeName(world)) : exitCode.ok;
}

/**
 * Prints what was asked for and writes the files; the exit code follows the grade. With --own it is about that node;
 * `absent` nodes are printed, too, but the patch is of one node.
 */
function tell(
  whole: Gate,
  options: GateOptions,
  own: string,
  absent: readonly string[] = [],
): number {
  const { format, metrics, nodePatch, validFor } = options;
  const gate = options.own ? partOf(whole, [own, ...absent]) : whole;
  const shown =
    format === 'json' ? `${JSON.stringify(gate, null, 2)}\n` : formatGate(gate, stdoutTerminal());
  printOut(shown);
  if (format === 'table' && !options.quiet && !options.own) {
    const compared = gate.run === null ? [] : [`compared with ${gate.against}`];
    for (const note of [...compared, ...gate.notes]) {
      printError(`${note}\n`);
    }
  }
  if (metrics !== undefined) writeWhole(metrics, formatGateMetrics(gate), '--metrics');
  if (nodePatch !== undefined) {
    const patched = options.own ? partOf(whole, [own]) : whole;
    writeWhole(nodePatch, formatNodePatch(patched, validFor), '--node-patch');
  }
  return codeOf[gate.grade];
}

const codeOf: Record<NodeGrade, number> = {
  pass: exitCode.ok,
  degraded: exitCode.verdict,
  fail: exitCode.verdict,
  unmeasured: exitCode.failed,
};

function partOf(gate: Gate, names: readonly string[]): Gate {
  const nodes = gate.nodes.filter(({ node }) => names.includes(node));
  return { ...gate, nodes, grade: worstOf(nodes) };
}

/** One line per node also where the nodes did not meet or finish. Bad usage is said as usual. */
function tellFailure(
  error: unknown,
  identity: Identity,
  options: GateOptions,
  startedMs: number,
): number | undefined {
  const { rank } = identity;
  const code = exitCodeOf(error);
  if (code === exitCode.usage) return undefined;
  const seconds = Number(((performance.now() - startedMs) / 1000).toFixed(1));
  const { gate, own, absent, speaker, unfit } = failedGate(error, identity, seconds);
  const speaks = options.own || rank === speaker;
  // A rank that was refused is the only one to know why.
  const refused = isWeftError(error, 'RENDEZVOUS_FAILED') && absent.length === 0;
  if (speaks || refused) printError(`${describeFailure(error, options.verbose)}\n`);
  if (speaks) tell(gate, options, own, rank === speaker ? absent : []);
  const blamed = options.own ? unfit.includes(rank) : unfit.length > 0;
  return blamed ? exitCode.verdict : code;
}
