import {
  choice,
  names,
  numberAbove,
  numbers,
  onOff,
  option,
  seconds,
  several,
  size,
  sizeAboveZero,
  text,
  type ValuesOf,
  wholeNumber,
  zeroOrOne,
} from './option.js';

/** More endpoints of one rank are a mistake: no host has as many NICs. */
const mostChannels = 1024;

/** What a fabric is opened with, and how plans run on it. */
export const fabricOptions = {
  provider: option({
    flags: '--provider <name>',
    help: 'libfabric provider, e.g. efa or tcp',
    kind: text,
    defaultText: 'best',
  }),
  nics: option({
    flags: '--nics <names>',
    help: 'interfaces or RDMA devices, one channel each',
    kind: names,
  }),
  localShm: onOff('--local-shm', 'allow efa to use shared memory within a host'),
  channels: option({
    flags: '--channels <count>',
    help: 'endpoints per rank',
    kind: wholeNumber(1, mostChannels),
    defaultText: 'one per NIC',
  }),
  lineRateGbps: option({
    flags: '--line-rate <gbps>',
    help: 'line rate per channel in Gbps, if not detected',
    kind: numberAbove(0),
  }),
  gpus: option({
    flags: '--gpu <numbers>',
    help: 'GPUs that local ranks use in turn',
    kind: numbers(0, 9999),
    defaultText: 'all',
  }),
  chunkBytes: option({
    flags: '--chunk <size>',
    help: 'split transfers into chunks',
    kind: sizeAboveZero,
    defaultText: 'per provider',
  }),
  window: option({
    flags: '--window <count>',
    help: 'chunks in flight per channel',
    kind: wholeNumber(1),
    defaultText: 'per provider',
  }),
  timeoutMs: option({
    flags: '--timeout <seconds>',
    help: 'abort if no transfer completes for this many seconds',
    kind: seconds,
    default: 60_000,
  }),
  pin: option({
    flags: '--pin <mode>',
    help: 'pin ranks to CPU cores: auto, none',
    kind: choice(['auto', 'none']),
    default: 'auto',
  }),
};

/** The libraries that benchmarks can be compared with. */
export const peerIds = ['gloo', 'mpi', 'nccl'] as const;
export type PeerId = (typeof peerIds)[number];

export const measureOptions = {
  minBytes: option({ flags: '-b, --min-bytes <size>', help: 'smallest size', kind: size }),
  maxBytes: option({ flags: '-e, --max-bytes <size>', help: 'largest size', kind: size }),
  stepFactor: option({
    flags: '-f, --step-factor <n>',
    help: 'multiply the size by this at each step',
    kind: numberAbove(1),
  }),
  stepBytes: option({
    flags: '-i, --step-bytes <size>',
    help: 'add this many bytes at each step instead',
    kind: sizeAboveZero,
  }),
  iterations: option({
    flags: '-n, --iters <count>',
    help: 'iterations per row',
    kind: wholeNumber(1),
    defaultText: 'set by --budget-ms',
  }),
  budgetMs: option({
    flags: '--budget-ms <ms>',
    help: 'time budget per row in ms',
    kind: numberAbove(0),
    default: 500,
  }),
  warmup: option({
    flags: '-w, --warmup <count>',
    help: 'untimed iterations before each row',
    kind: wholeNumber(0),
    default: 2,
  }),
  repeats: option({
    flags: '--repeats <count>',
    help: 'repeat the run with fresh connections',
    kind: wholeNumber(1),
    default: 1,
  }),
  check: option({
    flags: '-c, --check <0|1>',
    help: 'verify every byte',
    kind: zeroOrOne,
    default: true,
  }),
  columns: option({
    flags: '--columns <names>',
    help: 'columns to run, separated by commas',
    kind: names,
    defaultText: 'all',
  }),
  against: option({
    flags: '--against <libraries>',
    help: `compare in turns with ${peerIds.join(', ')}`,
    kind: several(peerIds, 'libraries'),
  }),
  buffers: option({
    flags: '--buffers <count>',
    help: 'independent buffers in flight',
    kind: wholeNumber(1),
  }),
};

/** The options that benchmarks share. Command line, suite files, `check`, `--explain`, help and docs read this table. */
export const commonOptions = { ...measureOptions, ...fabricOptions };

export type CommonKey = keyof typeof commonOptions;
export type FabricSettings = ValuesOf<typeof fabricOptions>;

/** How one benchmark is to be run; the same on every rank. Sizes come from the benchmark where nobody gives them. */
export type Settings = ValuesOf<typeof commonOptions> & {
  readonly [K in 'minBytes' | 'maxBytes' | 'stepFactor']: number;
};
