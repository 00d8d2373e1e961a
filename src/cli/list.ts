import { type Command, Option } from 'commander';
import { type Benchmark, type Column, type NamedColumn, usesFabric } from '../bench/benchmark.js';
import { benchmarks } from '../bench/registry.js';
import { inspect } from '../fabric/inspect.js';
import { formatBytes } from '../measure/units.js';

interface Listed {
  readonly id: string;
  readonly summary: string;
  readonly needs: readonly string[];
  readonly ranks: number;
  readonly sizes: string;
  readonly columns: readonly { name: string; runs: boolean; reason?: string }[];
}

/** `weft list`: the benchmarks, their columns, what each needs and whether it can run here. */
export function addListCommand(program: Command): void {
  program
    .command('list')
    .description('Benchmarks, their columns, what each needs and whether it can run here.')
    .addOption(new Option('--format <format>').choices(['table', 'json']).default('table'))
    .action(({ format }: { format: string }) => {
      const usable = inspect().providers.some((provider) => provider.usable);
      const listed = benchmarks.map((benchmark) => list(benchmark, usable));
      const text =
        format === 'json' ? JSON.stringify(listed, null, 2) : listed.map(describe).join('\n\n');
      process.stdout.write(`${text}\n`);
    });
}

function list(benchmark: Benchmark, usable: boolean): Listed {
  const { id, summary, needs, ranks, sizes, columns } = benchmark;
  return {
    id,
    summary,
    needs,
    ranks: ranks.min,
    sizes: `${formatBytes(sizes.minBytes)}–${formatBytes(sizes.maxBytes)}`,
    columns: columns.map((column: NamedColumn | Column) => {
      const device = 'memory' in column && column.memory.id === 'device';
      const noFabric = usesFabric(benchmark) && !usable ? 'needs libfabric' : undefined;
      const reason = device ? 'needs a GPU' : noFabric;
      return {
        name: column.name,
        runs: reason === undefined,
        ...(reason !== undefined && { reason }),
      };
    }),
  };
}

function describe({ id, summary, needs, ranks, sizes, columns }: Listed): string {
  const runs = columns.filter((column) => column.runs).map((column) => column.name);
  const rest = columns.filter((column) => !column.runs);
  return [
    `${id}: ${summary}`,
    `  needs    ${[...needs, `${ranks} rank${ranks === 1 ? '' : 's'} or more`].join(', ')}; ${sizes} by default`,
    `  runs     ${runs.join(', ') || 'nothing here'}`,
    ...(rest.length === 0
      ? []
      : [`  not here ${rest.map(({ name, reason }) => `${name} (${reason})`).join(', ')}`]),
  ].join('\n');
}
