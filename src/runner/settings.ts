import { WeftError } from '../errors.js';
import { formatBytes } from '../measure/units.js';
import type { FabricSettings } from '../session/fabric-settings.js';
import type { NamedColumn } from './benchmark.js';

/** How one benchmark is to be run; the same on every rank. */
export interface Settings extends FabricSettings {
  readonly minBytes: number;
  readonly maxBytes: number;
  /** Sizes double, or grow by `stepBytes` where that is set. */
  readonly stepFactor: number;
  readonly stepBytes?: number;
  /** Default: as many as `budgetMs` allows. */
  readonly iterations?: number;
  readonly warmup: number;
  /** How often everything is measured, each time on new connections. */
  readonly repeats: number;
  readonly budgetMs: number;
  readonly check: boolean;
  /** Default: all. */
  readonly columns?: readonly string[];
  readonly buffers?: number;
  /** What a benchmark's own options say, by their keys. */
  readonly own?: Readonly<Record<string, unknown>>;
}

export const defaultSettings = {
  warmup: 2,
  repeats: 1,
  budgetMs: 500,
  check: true,
  timeoutMs: 60_000,
  pin: 'auto',
} as const;

const mostSizes = 10_000;

const tooManySizes = (): WeftError =>
  new WeftError('BAD_USAGE', `that makes more than ${mostSizes} sizes`, {
    hint: 'Use a larger --step-bytes or --step-factor, or a smaller range.',
  });

/** The sizes of the rows, smallest first. */
export function sizesOf(settings: Settings): number[] {
  const { minBytes, maxBytes, stepBytes, stepFactor } = settings;
  if (minBytes > maxBytes) {
    throw new WeftError(
      'BAD_USAGE',
      `--min-bytes ${formatBytes(minBytes)} is more than --max-bytes ${formatBytes(maxBytes)}`,
      { hint: 'Swap them, or leave one out.' },
    );
  }
  const sizes: number[] = [];
  for (let bytes = minBytes; bytes <= maxBytes; ) {
    sizes.push(bytes);
    if (sizes.length > mostSizes) throw tooManySizes();
    const next = stepBytes === undefined ? Math.ceil(bytes * stepFactor) : bytes + stepBytes;
    bytes = Math.max(next, bytes + 1);
  }
  return sizes;
}

/** The columns asked for, in the benchmark's order. Names are matched without regard to case. */
export function columnsOf<C extends NamedColumn>(
  benchmark: { readonly id: string; readonly columns: readonly C[] },
  asked: readonly string[] | undefined,
): C[] {
  if (asked === undefined) return [...benchmark.columns];
  const names = ({ name, aliases = [] }: C) => [name, ...aliases].map((one) => one.toLowerCase());
  const wanted = new Set(asked.map((name) => name.toLowerCase()));
  const known = new Set(benchmark.columns.flatMap(names));
  const unknown = asked.filter((name) => !known.has(name.toLowerCase()));
  if (unknown.length > 0) {
    throw new WeftError('BAD_USAGE', `${benchmark.id} has no column ${unknown.join(', ')}`, {
      hint: `It has ${benchmark.columns.map((column) => column.name).join(', ')}.`,
    });
  }
  return benchmark.columns.filter((column) => names(column).some((name) => wanted.has(name)));
}
