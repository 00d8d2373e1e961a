import type { RankLauncher } from '../peers/mpirun.js';
import type { AroundCall, Collective } from '../plan/collective.js';
import type { Strategy } from '../plan/strategies.js';
import type { Traffic } from '../plan/traffic.js';
import type { Row } from '../results/schema.js';
import type { WorkloadValues } from '../results/workload-figures.js';
import type { Session } from '../session/session.js';
import { flagOf, type OptionTable, type ValuesOf } from '../settings/option.js';
import { type CommonKey, commonOptions, type Settings } from '../settings/table.js';
import type { World } from '../world/world.js';
import type { Column, NamedColumn } from './columns.js';
import type { Listener } from './runner.js';
import type { Situation, Timed, Turn } from './turn.js';

export type { PlanSituation, Situation, Timed, Turn } from './turn.js';

/** A benchmark that takes no options but the common ones. */
// biome-ignore lint/complexity/noBannedTypes: it has no keys, whatever a record of any keys would allow
type NoOptions = {};

/** How a benchmark was asked for: the common settings, and its own options. */
export interface Asked<O extends OptionTable = OptionTable> {
  readonly settings: Settings;
  readonly options: ValuesOf<O>;
}

interface BenchmarkBase<O extends OptionTable> {
  /** The name of its command and of its file. */
  readonly id: string;
  readonly summary: string;
  /** `usual`: how many local ranks there are when nobody says; default 2. */
  readonly ranks: { readonly min: number; readonly usual?: number };
  /** As `ranks.usual`, where options decide it; undefined: as usual. */
  usualRanks?(asked: Asked<O>): number | undefined;
  readonly columns: readonly NamedColumn[];
  readonly sizes: { readonly minBytes: number; readonly maxBytes: number; readonly factor: number };
  /** Its own options, by the key under which it finds their values. */
  readonly options?: O;
  /** The one of them that the command line also takes without its flag. */
  readonly argument?: keyof O & string;
  /** Its defaults of common options, where they differ from the table's. */
  readonly defaults?: Partial<Settings>;
  /** Common options that have no effect here: they are refused. */
  readonly without?: readonly CommonKey[];
  /** Common options that have an effect only where they are listed. */
  readonly takes?: readonly OptIn[];
  /** Throws BAD_USAGE for settings that make no sense here, before any rank is started. */
  check?(asked: Asked<O>): void;
  /** Throws for settings that this machine cannot serve, before so many local ranks are started on it. */
  preflight?(asked: Asked<O>, ranks: number): void;
}

const optIn = ['buffers'] as const satisfies readonly CommonKey[];
type OptIn = (typeof optIn)[number];

/** A benchmark made of plans: the runner verifies, calibrates and times them. */
export interface PlanBenchmark<O extends OptionTable = OptionTable> extends BenchmarkBase<O> {
  readonly columns: readonly Column[];
  /** Whose time a sample is: the initiator's, or the slowest rank's. */
  readonly clock: 'initiator' | 'slowest';
  /** An iteration is there and back: half of it is given beside it. */
  readonly roundTrip?: boolean;
  /** Recorded in the run file. Figures in the style of nccl-tests count a block per rank for `allToAll`. */
  readonly pattern: string;
  /** Of a collective whose row's bytes are nccl-tests' `size`: its busbw over its algbw. */
  busFactor?(world: number): number;
  /** A model of a fabric may be fitted to its rows: nothing but size, column and buffers decides their plans. */
  readonly fitsModels?: boolean;
  /** What it measures that models of fabrics do not include: it cannot be predicted. */
  readonly notModelled?: string;
  /** Transfers are not cut: both sides match whole messages. */
  readonly wholeMessages?: boolean;
  turns(situation: Situation<O>): readonly Turn[];
  /** What its one turn does, as other libraries name it: the same in all columns of a size and variant; undefined: they have none. */
  against?(situation: Situation<O>): Collective | undefined;
  /** What a program would do around that call. In host memory: what NCCL is given is compared by its call alone. */
  aroundCall?(situation: Situation<O>): AroundCall | undefined;
  /** The bytes of most operations, where they may be smaller than chunks: then more are in flight. */
  operationBytes?(situation: Situation<O>): number;
  /** The sizes of the rows, where its options decide them. Then it must refuse the options that say sizes. */
  sizesOf?(asked: Asked<O>): readonly number[];
  /** Figures of a row beyond time and rate. */
  figures?(timed: Timed<O>): WorkloadValues & Pick<Row, 'mops' | 'routing' | 'requestTimes'>;
  /** Tells what every rank made from its seed or read from a file: it must be equal on all, and the run file records it. */
  inputHash?(asked: Asked<O>, world: number): string;
}

/** What a benchmark with a procedure of its own is given. Every rank calls it; rank 0's listener hears of rows. */
export interface Procedure<O extends OptionTable = OptionTable> extends Asked<O> {
  readonly world: World;
  readonly listener: Listener;
  /** The interface that the user named for sockets. */
  readonly iface?: string | undefined;
  /** Writes a line of this rank's log, as it happens. */
  say(text: string): void;
}

/** Traffic, and how it is spread over channels. */
export interface Drawn {
  readonly traffic: Traffic;
  readonly strategy: Strategy;
}

/** A benchmark that is ready to measure. Closing it closes what it opened. */
export interface OpenBenchmark extends AsyncDisposable {
  /** What it runs on, for the head of the run file. */
  readonly session?: Session | undefined;
  /** What the run file records beside the settings. */
  readonly record: Readonly<Record<string, unknown>>;
  run(): Promise<void>;
}

/** A benchmark whose rows do not come from one plan after the other. It verifies what it measures, too. */
export type OwnBenchmark<O extends OptionTable = OptionTable> = BenchmarkBase<O> &
  (
    | {
        readonly fabric: true;
        /** It wants to be told of rails that do not carry, instead of being refused. */
        readonly reportsGaps?: boolean;
        /** Whether buffers in GPU memory are of use to it. */
        deviceMemory?(asked: Asked<O>): boolean;
        /** What `--explain` prints. */
        explain?(asked: Asked<O>, world: number): string;
        run(procedure: Procedure<O> & { session: Session }): Promise<void>;
      }
    | { readonly fabric: false; run(procedure: Procedure<O>): Promise<void> }
    | {
        /** It opens its fabric by itself, among other things. */
        readonly fabric: 'own';
        open(procedure: Procedure<O>): Promise<OpenBenchmark>;
        /** Every rank keeps a log, which is shown. */
        readonly everyoneSpeaks?: boolean;
        /** What `--explain` draws. */
        traffic?(asked: Asked<O>, world: number): Drawn;
        /** A way of its own to start the ranks of this machine; undefined: as other benchmarks. */
        launcher?(asked: Asked<O>): RankLauncher | undefined;
      }
  );

/** A benchmark: plans for the runner to time, or a procedure of its own. */
export type Benchmark<O extends OptionTable = OptionTable> = PlanBenchmark<O> | OwnBenchmark<O>;

export const isPlanned = (benchmark: Benchmark): benchmark is PlanBenchmark => 'turns' in benchmark;

/** Whether it can only run over libfabric. */
export const usesFabric = (benchmark: Benchmark): boolean =>
  isPlanned(benchmark) || benchmark.fabric === true;

/** Whether every rank keeps a log. */
export const everyoneSpeaks = (benchmark: Benchmark): boolean =>
  !isPlanned(benchmark) && benchmark.fabric === 'own' && benchmark.everyoneSpeaks === true;

/** What libfabric alone makes use of. */
const forFabric = [
  'provider',
  'nics',
  'localShm',
  'channels',
  'lineRateGbps',
  'chunkBytes',
  'window',
] as const satisfies readonly CommonKey[];

/** The common options that a benchmark takes. */
export function commonKeysOf(benchmark: Benchmark): CommonKey[] {
  const { without = [], takes = [] } = benchmark;
  const noFabric = !isPlanned(benchmark) && benchmark.fabric === false;
  const comparable = isPlanned(benchmark) && benchmark.against !== undefined;
  const refused: readonly CommonKey[] = [
    ...without,
    ...(comparable ? [] : (['against'] as const)),
    ...(noFabric ? forFabric : []),
    ...optIn.filter((key) => !takes.includes(key)),
  ];
  return (Object.keys(commonOptions) as CommonKey[]).filter((key) => !refused.includes(key));
}

/** Everything a benchmark takes, by key: its own options first. */
export function optionsOf(benchmark: Benchmark): OptionTable {
  const common = commonKeysOf(benchmark).map((key) => [key, commonOptions[key]]);
  return { ...benchmark.options, ...Object.fromEntries(common) };
}

/** Checks a benchmark's definition once, where it is written. */
export function defineBenchmark<const O extends OptionTable = NoOptions>(
  benchmark: PlanBenchmark<O>,
): PlanBenchmark<O>;
export function defineBenchmark<const O extends OptionTable = NoOptions>(
  benchmark: OwnBenchmark<O>,
): OwnBenchmark<O>;
export function defineBenchmark(benchmark: Benchmark): Benchmark {
  const { id, sizes, options = {} } = benchmark;
  if (!/^[a-z][a-z0-9-]*$/.test(id))
    throw new TypeError(
      `"${id}" is not a valid benchmark id: use lower-case letters, digits and dashes`,
    );
  if (sizes.minBytes > sizes.maxBytes || !(sizes.factor > 1)) {
    throw new TypeError(`${id}: sizes need minBytes up to maxBytes and a factor above 1`);
  }
  for (const [key, own] of Object.entries(options)) {
    const taken = Object.entries(commonOptions).find(
      ([common, { flags }]) => common === key || sharesFlag(flags, own.flags),
    );
    if (taken) throw new TypeError(`${id}: ${flagOf(own)} is already a common option`);
  }
  return benchmark;
}

const wordsOf = (flags: string): string[] => flags.match(/--?[a-zA-Z0-9-]+/g) ?? [];
const sharesFlag = (one: string, other: string): boolean =>
  wordsOf(one).some((word) => wordsOf(other).includes(word));
