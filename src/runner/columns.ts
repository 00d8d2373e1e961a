import { WeftError } from '../errors.js';
import type { Strategy } from '../plan/strategies.js';

/** Where a column's buffers live: page-locked host memory, or a GPU's. */
export interface ColumnMemory {
  readonly id: 'pinned' | 'device';
  /** As it ends the name of a column: Single`Pin`. */
  readonly title: string;
}

/** Page-locked host memory. */
export const pinned: ColumnMemory = { id: 'pinned', title: 'Pin' };
/** Memory of a GPU. */
export const device: ColumnMemory = { id: 'device', title: 'DMA' };

/** A column of the result table, as users name it. */
export interface NamedColumn {
  readonly name: string;
  /** Other names under which users ask for it. */
  readonly aliases?: readonly string[];
}

/** A column that is a way of running a plan. */
export interface Column extends NamedColumn {
  readonly strategy: Strategy;
  readonly memory: ColumnMemory;
  /** Which of several things it runs, where a benchmark has several: `Dispatch`MultiPin. */
  readonly variant?: string;
}

/** Each of several things a benchmark runs, in every column: DispatchSinglePin, …, CombineSinglePin, … */
export const variants = (names: readonly string[], all: readonly Column[]): Column[] =>
  names.flatMap((variant) =>
    all.map((column) => ({ ...column, name: `${variant}${column.name}`, variant, aliases: [] })),
  );

/** Every strategy with every memory, strategies first: SinglePin, SingleDMA, MultiPin, … */
export function columns(
  strategies: readonly Strategy[],
  memories: readonly ColumnMemory[],
  aliases: Readonly<Record<string, readonly string[]>> = {},
): Column[] {
  return strategies.flatMap((strategy) =>
    memories.map((memory) => {
      const name = `${strategy.title}${memory.title}`;
      return { name, strategy, memory, aliases: aliases[name] ?? [] };
    }),
  );
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
      hint: `Its columns are ${benchmark.columns.map((column) => column.name).join(', ')}.`,
    });
  }
  return benchmark.columns.filter((column) => names(column).some((name) => wanted.has(name)));
}
