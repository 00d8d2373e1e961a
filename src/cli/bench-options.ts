import { type Command, Option } from 'commander';
import { z } from 'zod';
import { formatBytes } from '../measure/units.js';
import { type Format, formats } from '../results/formats/format-run.js';
import type { Benchmark, OwnOption } from '../runner/benchmark.js';
import { defaultSettings, type Settings } from '../runner/settings.js';
import { addFabricOptions, readFabricOptions } from './fabric-options.js';
import {
  bytes,
  factor,
  names,
  natural,
  parsed,
  positive,
  rankCount,
  someBytes,
} from './option-parsers.js';

/** Options that say who runs and what is shown, not what is measured. */
export interface ShowOptions {
  /** Undefined: not said, which under a launcher is right and elsewhere means `defaultRanks`. */
  readonly ranks?: number;
  readonly format: Format;
  readonly out?: string;
  /** Where nccl-tests' JSON goes. */
  readonly ncclJson?: string;
  readonly explain: boolean;
  /** A page that follows the run. */
  readonly live: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly iface?: string;
  readonly tokenFile?: string;
}

export interface BenchOptions {
  readonly settings: Settings;
  readonly show: ShowOptions;
}

/** Options of every benchmark, with its defaults, and its own. */
export function addBenchOptions(command: Command, { sizes, options = [] }: Benchmark): Command {
  for (const { flags, summary, parse } of options) {
    if (parse) command.option(flags, summary, parsed(parse));
    else command.option(flags, summary, false);
  }
  addShowOptions(command);
  command
    .option(
      '-b, --min-bytes <size>',
      `smallest size (default: ${formatBytes(sizes.minBytes)})`,
      bytes,
    )
    .option(
      '-e, --max-bytes <size>',
      `largest size (default: ${formatBytes(sizes.maxBytes)})`,
      bytes,
    )
    .option(
      '-f, --step-factor <factor>',
      `each size is this times the last (default: ${sizes.factor})`,
      factor,
    )
    .option('-i, --step-bytes <size>', 'each size is this much more than the last', someBytes)
    .option(
      '-n, --iters <count>',
      'iterations per row (default: as many as the budget allows)',
      positive,
    )
    .option('-w, --warmup <count>', 'iterations before timing', natural, defaultSettings.warmup)
    .option(
      '--repeats <count>',
      'measure everything so often, on new connections, for compare',
      positive,
      defaultSettings.repeats,
    )
    .option('--budget-ms <ms>', 'time per row', positive, defaultSettings.budgetMs)
    .addOption(
      new Option('-c, --check <0|1>', 'verify every byte').choices(['0', '1']).default('1'),
    )
    .option('--columns <names>', 'only these, e.g. SinglePin,MultiPin', names)
    .option('--buffers <count>', 'independent buffers in flight (write only)', positive);
  return addFabricOptions(command);
}

export const defaultRanks = 2;

/** Options of every command that measures. */
export function addShowOptions(command: Command): Command {
  return addRankOptions(command)
    .addOption(
      new Option('--format <format>', 'how results are printed').choices(formats).default('table'),
    )
    .option('--out <file>', 'the run file (default: a new one in weft-results/)')
    .option('-J, --nccl-json <file>', 'also write nccl-tests’ JSON')
    .option('--explain', 'draw the plan and its bound, run nothing', false)
    .option('--live', 'a web page that follows the run; its address is printed', false);
}

/** Options of every command that runs on ranks. */
export function addRankOptions(command: Command): Command {
  return command
    .option(
      '--ranks <count>',
      'ranks on this machine; under torchrun, srun or mpirun they decide',
      rankCount,
    )
    .option('--quiet', 'results only', false)
    .option('--verbose', 'causes, stacks, and the output of every rank', false)
    .option('--iface <name>', 'where rank 0 listens, with several hosts')
    .option('--token-file <file>', 'a secret shared by the ranks (mode 0600)');
}

const rawSchema = z.object({
  minBytes: z.number().optional(),
  maxBytes: z.number().optional(),
  stepFactor: z.number().optional(),
  stepBytes: z.number().optional(),
  iters: z.number().optional(),
  warmup: z.number(),
  repeats: z.number(),
  budgetMs: z.number(),
  check: z.enum(['0', '1']),
  columns: z.array(z.string()).optional(),
  buffers: z.number().optional(),
});

export const rankSchema = z.object({
  ranks: z.number().optional(),
  quiet: z.boolean(),
  verbose: z.boolean(),
  iface: z.string().optional(),
  tokenFile: z.string().optional(),
});

const showSchema = rankSchema.extend({
  format: z.enum(formats),
  out: z.string().optional(),
  ncclJson: z.string().optional(),
  explain: z.boolean(),
  live: z.boolean(),
});

export const readShow = (raw: unknown): ShowOptions => showSchema.parse(raw);

/** What the command line says, in the words of the rooms below. */
export function readBenchOptions(
  raw: unknown,
  { sizes, options }: Pick<Benchmark, 'sizes' | 'options'>,
): BenchOptions {
  const { iters, check, ...rest } = rawSchema.parse(raw);
  const settings: Settings = {
    ...rest,
    ...readFabricOptions(raw),
    // One bound alone moves the other out of its way.
    minBytes: rest.minBytes ?? Math.min(sizes.minBytes, rest.maxBytes ?? sizes.minBytes),
    maxBytes: rest.maxBytes ?? Math.max(sizes.maxBytes, rest.minBytes ?? sizes.maxBytes),
    stepFactor: rest.stepFactor ?? sizes.factor,
    check: check === '1',
    ...(iters !== undefined && { iterations: iters }),
    ...(options && { own: ownSettings(raw as Record<string, unknown>, options) }),
  };
  return { settings, show: readShow(raw) };
}

const ownSettings = (raw: Record<string, unknown>, options: readonly OwnOption[]) =>
  Object.fromEntries(
    options.filter(({ key }) => raw[key] !== undefined).map(({ key }) => [key, raw[key]]),
  );
