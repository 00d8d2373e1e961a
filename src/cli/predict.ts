import { extname } from 'node:path';
import type { Command } from 'commander';
import { benchmarks } from '../benchmarks/index.js';
import { WeftError } from '../errors.js';
import { formatRun } from '../results/formats/format-run.js';
import { formatPredictions } from '../results/formats/json.js';
import type { Run } from '../results/schema.js';
import { isPlanned, type PlanBenchmark } from '../runner/benchmark.js';
import { jobOf } from '../runner/job.js';
import { predictRun } from '../runner/predict/predict-run.js';
import { choice, type OptionTable, option, text, type ValuesOf } from '../settings/option.js';
import { predictOptions, type Range } from '../settings/predict.js';
import { commonOptions } from '../settings/table.js';
import type { NicFault } from '../simulate/fabric-model.js';
import type { SimulatedWorld } from '../simulate/wiring.js';
import { withArgument } from './bench.js';
import { fabricModel } from './fabric-model.js';
import { addOptions, parsed, readOptions } from './options.js';
import { printOut } from './output/print.js';
import { stdoutTerminal } from './output/terminal.js';
import { writeWhole } from './output/write-whole.js';
import { addFitCommand } from './predict-fit.js';

const shown = {
  format: option({
    flags: '--format <format>',
    help: 'format: table, markdown, json',
    kind: choice(['table', 'markdown', 'json']),
    default: 'table',
  }),
  out: option({
    flags: '-o, --out <file>',
    help: 'also write a .html page or .svg charts',
    kind: text,
  }),
};
type Asked = ValuesOf<typeof predictOptions & typeof shown> & { readonly buffers?: number };

/** Options of predictions that mean the same to a benchmark: one seed is that of all that is drawn. */
const shared = ['seed'];

/** The options of a benchmark that shape its plans, as predictions take them: without those of the same name. */
const ownOptionsOf = ({ options = {} }: PlanBenchmark): OptionTable =>
  Object.fromEntries(Object.entries(options).filter(([key]) => !(key in predictOptions)));

/** `weft predict BENCH`: the plans of a benchmark in a model of a fabric, at any scale. */
export function addPredictCommand(program: Command): void {
  const command = program
    .command('predict')
    .description('Predict benchmark results from a fabric model.');
  for (const benchmark of benchmarks.filter(isPlanned)) describe(command, benchmark);
  addFitCommand(command);
}

function describe(predict: Command, benchmark: PlanBenchmark): void {
  const own: OptionTable = benchmark.takes?.includes('buffers')
    ? { buffers: commonOptions.buffers }
    : {};
  const table: OptionTable = { ...ownOptionsOf(benchmark), ...predictOptions, ...own, ...shown };
  const command = predict
    .command(benchmark.argument ? `${benchmark.id} [${benchmark.argument}]` : benchmark.id)
    .description(`Predict: ${benchmark.summary}`)
    .option(
      '--fault <text>',
      "slow NIC: 'host 17 nic 2 rate 50%' (repeatable)",
      (value: string, list: NicFault[] = []) => [...list, parsed(parseFault)(value)],
    );
  addOptions(command, table).action(async (...words: unknown[]) => {
    const raw: { fault?: NicFault[] } = withArgument(benchmark, words);
    const asked = readOptions(raw, table) as unknown as Asked;
    const draw = asked.out === undefined ? undefined : await drawerOf(asked.out);
    const runs = predictAll(benchmark, asked, raw.fault ?? []);
    printOut(written(runs, asked.format));
    if (draw) writeWhole(asked.out!, draw(runs), '-o');
  });
}

function written(runs: readonly Run[], format: Asked['format']): string {
  if (format === 'json') return formatPredictions(runs);
  return runs.map((run) => formatRun(run, format, stdoutTerminal())).join('\n');
}

function predictAll(benchmark: PlanBenchmark, asked: Asked, faults: readonly NicFault[]): Run[] {
  const { bytes, columns, chunkBytes, buffers, ranksPerNode, nodes } = asked;
  const model = fabricModel(asked.fabric);
  if (benchmark.notModelled !== undefined) throw notModelled(benchmark, model.name);
  const fabric = { ...model, nicsPerRank: asked.nicsPerRank ?? model.nicsPerRank };
  if (ranksPerNode > 1 && benchmark.clock === 'initiator') throw oneRankOnly(benchmark);
  if (bytes !== undefined && benchmark.without?.includes('maxBytes')) throw noSizes(benchmark);
  const { options = {} } = benchmark;
  const own = Object.entries(asked).filter(
    ([key]) => key in options && (shared.includes(key) || !(key in predictOptions)),
  );
  const sizes = bytes && { minBytes: bytes.from, maxBytes: bytes.to, stepFactor: 2 };
  const given = { ...sizes, columns, chunkBytes, buffers, ...Object.fromEntries(own) };
  const job = { ...jobOf(benchmark, given), benchmark };
  const switches = switchesOf(asked);
  return doublings(nodes).map((count) => {
    refuseStrangeFaults(faults, count, ranksPerNode * fabric.nicsPerRank);
    return predictRun({ job, world: { fabric, nodes: count, ranksPerNode, switches, faults } });
  });
}

function switchesOf(asked: Asked): SimulatedWorld['switches'] {
  const { hostsPerLeaf, oversubscription, switchRouting: routing, seed } = asked;
  if (hostsPerLeaf !== undefined) return { hostsPerLeaf, oversubscription, routing, seed };
  if (oversubscription === 1 && routing === 'spray') return undefined;
  throw new WeftError('BAD_USAGE', '--oversubscription and --switch-routing need leaf switches', {
    hint: 'Set the number of nodes per leaf switch with --hosts-per-leaf.',
  });
}

/** From the first to the last, doubling; the last is always there. */
function doublings({ from, to }: Range): number[] {
  const values: number[] = [];
  for (let value = from; value < to; value *= 2) values.push(value);
  return [...values, to];
}

/** `host 17 nic 2 rate 50%`, both counted from 0. */
function parseFault(value: string): NicFault {
  const match = /^host (\d+) nic (\d+) rate (\d+(?:\.\d+)?)\s*%$/.exec(value.trim());
  const rate = Number(match?.[3]) / 100;
  if (!match || rate <= 0 || rate > 1) {
    throw new Error(
      "It must look like 'host 17 nic 2 rate 50%', with a rate above 0 % up to 100 %.",
    );
  }
  return { host: Number(match[1]), nic: Number(match[2]), rate };
}

function refuseStrangeFaults(faults: readonly NicFault[], nodes: number, nics: number): void {
  for (const { host, nic } of faults) {
    if (host < nodes && nic < nics) continue;
    throw new WeftError('BAD_USAGE', `--fault: there is no NIC ${nic} on host ${host}`, {
      hint: `With ${nodes} nodes, hosts are 0 to ${nodes - 1} and NICs 0 to ${nics - 1}.`,
    });
  }
}

const notModelled = ({ id, notModelled }: PlanBenchmark, model: string): WeftError =>
  new WeftError(
    'BAD_USAGE',
    `${id} cannot be predicted: the model ${model} does not include ${notModelled}`,
    {
      hint: 'It predicts the times of whole transfers. Measure this benchmark instead.',
    },
  );

const noSizes = ({ id }: PlanBenchmark): WeftError =>
  new WeftError('BAD_USAGE', `--bytes has no effect on ${id}`, { hint: 'Leave it out.' });

const oneRankOnly = ({ id }: PlanBenchmark): WeftError =>
  new WeftError('BAD_USAGE', `--ranks-per-node has no effect on ${id}: only rank 0 is timed`, {
    hint: 'Leave it out.',
  });

/** Charts are a large library that nobody should wait for who does not want any. */
async function drawerOf(file: string): Promise<(runs: readonly Run[]) => string> {
  switch (extname(file)) {
    case '.svg': {
      const charts = import('../report/charts.js');
      const { renderSvg } = await import('../report/svg.js');
      const { chartsOf } = await charts;
      return (runs) => renderSvg(chartsOf(runs));
    }
    case '.html':
      return (await import('../report/html.js')).renderReport;
    default:
      throw new WeftError('BAD_USAGE', `-o ${file} is neither a page nor a picture`, {
        hint: 'Use a name that ends in .html or .svg.',
      });
  }
}
