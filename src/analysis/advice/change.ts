import { median } from '../../measure/quantile.js';
import { formatBytes } from '../../measure/units.js';
import type { Row, Run } from '../../results/schema.js';
import type { FabricModel } from '../../simulate/fabric-model.js';

/** What a change is about. `network`: links and devices, which no option changes. */
export type ChangeKind =
  | 'strategy'
  | 'chunk'
  | 'window'
  | 'channels'
  | 'memory'
  | 'placement'
  | 'network';

/** How many times as fast the changed rows are, as a median over rows; the interval holds those of all of them. */
export interface Gain {
  readonly factor: number;
  readonly interval: readonly [low: number, high: number];
}

/** Options of a benchmark by key, as `weft ab` would give them to one side. */
export type OptionValues = Readonly<Record<string, unknown>>;

/** Something to change in what a run measured. */
export interface Change {
  readonly run: Run;
  readonly what: ChangeKind;
  readonly from: string;
  readonly to: string;
  /** The sizes that it is about. */
  readonly bytes: readonly number[];
  /** Undefined where it is known to help, but not how much. */
  readonly gain: Gain | undefined;
  readonly known: 'measured' | 'predicted';
  readonly reason: string;
  /** Options that make the difference; absent where no option does. */
  readonly options?: {
    readonly from: OptionValues;
    readonly to: OptionValues;
    /** Of both sides. */
    readonly shared?: OptionValues;
  };
}

/** What the runs do not show, and what would. */
export interface OpenQuestion {
  readonly what: ChangeKind | 'model' | 'noise';
  readonly reason: string;
  /** The run that it is about. */
  readonly run?: Run;
  /** Options of the run that would answer it, of this benchmark. */
  readonly measure?: { readonly benchmark: string; readonly options: OptionValues };
}

export interface Found {
  readonly changes: readonly Change[];
  readonly open: readonly OpenQuestion[];
}

/** What to change in what runs measured, the most valuable first. */
export interface RunAdvice extends Found {
  readonly runs: readonly Run[];
  /** What predictions come from. */
  readonly models: readonly FabricModel[];
  /** How far each run is from what its NICs allow, a sentence each. */
  readonly state: readonly string[];
}

/** Less is no reason to change anything: repeated runs differ by as much. */
export const worthwhile = 1.03;

/** The median of some gains, with an interval that holds all of theirs. */
export function gainOver(gains: readonly Gain[]): Gain {
  return {
    factor: median(gains.map(({ factor }) => factor)),
    interval: [
      Math.min(...gains.map(({ interval }) => interval[0])),
      Math.max(...gains.map(({ interval }) => interval[1])),
    ],
  };
}

/** `1M`, or `256K to 4M`. */
export function sizesText(bytes: readonly number[]): string {
  if (bytes.length === 0) return '';
  const [least, most] = [Math.min(...bytes), Math.max(...bytes)];
  return least === most ? formatBytes(least) : `${formatBytes(least)} to ${formatBytes(most)}`;
}

/** A setting as a change shows it: `256K`, `4`. */
export const settingText = (what: ChangeKind, value: unknown): string =>
  what === 'chunk' && typeof value === 'number' ? formatBytes(value) : String(value);

/** A row that says how fast its column is. */
export type SteadyRow = Row & { readonly bytes: number; readonly gbps: number };

const isMeasured = (row: Row): row is SteadyRow =>
  row.kind === 'transfer' &&
  row.outcome === 'passed' &&
  row.bytes !== null &&
  row.gbps !== null &&
  row.soak === undefined &&
  row.against === undefined;

/** Rows that can be judged. Those of repeats stand for themselves: medians are over all of them. */
export const steadyRows = ({ rows }: Run): SteadyRow[] =>
  rows.filter(isMeasured).filter(({ noisy }) => !noisy);

export const noisyRows = ({ rows }: Run): SteadyRow[] =>
  rows.filter(isMeasured).filter(({ noisy }) => noisy);

/** The most valuable first: the gain over all sizes of the run, those that stay as they are included. */
export function byValue(changes: readonly Change[]): Change[] {
  const worth = ({ gain, run, bytes }: Change) => {
    if (gain === undefined) return 0;
    const sizes = new Set(steadyRows(run).map((row) => row.bytes)).size;
    return Math.log(gain.factor) * Math.min(1, bytes.length / Math.max(1, sizes));
  };
  return [...changes].sort((a, b) => worth(b) - worth(a));
}
