import { type Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import type { Benchmark } from '../bench/benchmark.js';
import { defaultSettings, type Settings } from '../bench/settings.js';
import { formatBytes, parseBytes } from '../measure/units.js';
import { type Format, formats } from '../results/formats/format-run.js';

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

/** Turns a parser's error into commander's, which names the option. */
function parsed<T>(parse: (text: string) => T): (text: string) => T {
  return (text) => {
    try {
      return parse(text);
    } catch (error) {
      throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
    }
  };
}

const bytes = parsed((text) => parseBytes(text));
const someBytes = parsed((text) => {
  const size = parseBytes(text);
  if (size === 0) throw new Error('It must be more than 0.');
  return size;
});

const number = (what: string, check: (value: number) => boolean) =>
  parsed((text) => {
    const value = Number(text);
    if (text.trim() === '' || !check(value)) throw new Error(`It must be ${what}.`);
    return value;
  });

const positive = number(
  'a whole number above 0',
  (value) => Number.isSafeInteger(value) && value > 0,
);
const natural = number(
  'a whole number, 0 or more',
  (value) => Number.isSafeInteger(value) && value >= 0,
);
const rate = number('a number above 0', (value) => Number.isFinite(value) && value > 0);
const factor = number('a number above 1', (value) => Number.isFinite(value) && value > 1);
const names = parsed((text) => {
  const list = text.split(',').map((name) => name.trim());
  if (list.some((name) => name === ''))
    throw new Error('It must be names with commas between them.');
  return list;
});

/** Options of every benchmark. `sizes` are its defaults. */
export function addBenchOptions(command: Command, sizes: Benchmark['sizes']): Command {
  addShowOptions(command);
  return command
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
    .option('--budget-ms <ms>', 'time per row', positive, defaultSettings.budgetMs)
    .addOption(
      new Option('-c, --check <0|1>', 'verify every byte').choices(['0', '1']).default('1'),
    )
    .option('--columns <names>', 'only these, e.g. SinglePin,MultiPin', names)
    .option('--buffers <count>', 'independent buffers in flight (write only)', positive)
    .option('--chunk <size>', 'cut transfers into pieces of this size', someBytes)
    .option('--window <count>', 'pieces in flight per channel', positive)
    .option(
      '--timeout <seconds>',
      'give up when nothing ends for this long',
      rate,
      defaultSettings.timeoutMs / 1000,
    )
    .addOption(
      new Option('--pin <how>', 'ranks to cores').choices(['auto', 'none']).default('auto'),
    )
    .option('--provider <name>', 'efa, verbs, shm, tcp, net, … (default: the best there is)')
    .option('--nics <names>', 'interfaces or RDMA devices, one channel each', names)
    .option('--channels <count>', 'endpoints per rank (default: one per NIC)', positive)
    .option('--line-rate <gbps>', 'of each channel, where it cannot be read', rate);
}

export const defaultRanks = 2;

/** Options of every command that measures. */
export function addShowOptions(command: Command): Command {
  return command
    .option(
      '--ranks <count>',
      'ranks on this machine; under torchrun, srun or mpirun they decide',
      positive,
    )
    .addOption(
      new Option('--format <format>', 'how results are printed').choices(formats).default('table'),
    )
    .option('--out <file>', 'the run file (default: a new one in weft-results/)')
    .option('-J, --nccl-json <file>', 'also write nccl-tests’ JSON')
    .option('--explain', 'draw the plan and its bound, run nothing', false)
    .option('--live', 'a web page that follows the run; its address is printed', false)
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
  budgetMs: z.number(),
  check: z.enum(['0', '1']),
  columns: z.array(z.string()).optional(),
  buffers: z.number().optional(),
  chunk: z.number().optional(),
  window: z.number().optional(),
  timeout: z.number(),
  pin: z.enum(['auto', 'none']),
  provider: z.string().optional(),
  nics: z.array(z.string()).optional(),
  channels: z.number().optional(),
  lineRate: z.number().optional(),
});

const showSchema = z.object({
  ranks: z.number().optional(),
  format: z.enum(formats),
  out: z.string().optional(),
  ncclJson: z.string().optional(),
  explain: z.boolean(),
  live: z.boolean(),
  quiet: z.boolean(),
  verbose: z.boolean(),
  iface: z.string().optional(),
  tokenFile: z.string().optional(),
});

export const readShow = (raw: unknown): ShowOptions => showSchema.parse(raw);

/** What the command line says, in the words of the rooms below. */
export function readBenchOptions(raw: unknown, sizes: Benchmark['sizes']): BenchOptions {
  const { iters, check, chunk, timeout, lineRate, ...rest } = rawSchema.parse(raw);
  const settings: Settings = {
    ...rest,
    // One bound alone moves the other out of its way.
    minBytes: rest.minBytes ?? Math.min(sizes.minBytes, rest.maxBytes ?? sizes.minBytes),
    maxBytes: rest.maxBytes ?? Math.max(sizes.maxBytes, rest.minBytes ?? sizes.maxBytes),
    stepFactor: rest.stepFactor ?? sizes.factor,
    check: check === '1',
    timeoutMs: Math.ceil(timeout * 1000),
    ...(iters !== undefined && { iterations: iters }),
    ...(chunk !== undefined && { chunkBytes: chunk }),
    ...(lineRate !== undefined && { lineRateGbps: lineRate }),
  };
  return { settings, show: readShow(raw) };
}
