import type { Command } from 'commander';
import { benchmarks } from '../benchmarks/index.js';
import { inspect } from '../fabric/inspect.js';
import { gpuAvailability } from '../gpu/gpu.js';
import { groupBy } from '../measure/group.js';
import { formatBytes } from '../measure/units.js';
import { type Benchmark, usesFabric } from '../runner/benchmark.js';
import type { Column, NamedColumn } from '../runner/columns.js';
import { addOptions, readOptions } from './options.js';
import { printOut } from './output/print.js';
import { formatOption } from './show-options.js';

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
  const command = program
    .command('list')
    .description('List benchmarks and the columns that run here.');
  addOptions(command, { format: formatOption }).action((raw: unknown) => {
    const usable = inspect().providers.some((provider) => provider.usable);
    const here = { fabric: usable ? undefined : 'needs libfabric', gpu: gpuLack() };
    const listed = benchmarks.map((benchmark) => list(benchmark, here));
    const json = readOptions(raw, { format: formatOption }).format === 'json';
    const text = json ? JSON.stringify(listed, null, 2) : listed.map(describe).join('\n\n');
    printOut(`${text}\n`);
  });
}

interface Lacks {
  readonly fabric: string | undefined;
  readonly gpu: string | undefined;
}

function gpuLack(): string | undefined {
  const availability = gpuAvailability();
  return 'reason' in availability ? `needs a GPU: ${availability.reason.message}` : undefined;
}

function list(benchmark: Benchmark, lacks: Lacks): Listed {
  const { id, summary, ranks, sizes, columns } = benchmark;
  return {
    id,
    summary,
    needs: usesFabric(benchmark) ? ['libfabric'] : [],
    ranks: ranks.min,
    sizes: sizesText(sizes),
    columns: columns.map((column: NamedColumn | Column) => {
      const device = 'memory' in column && column.memory.id === 'device';
      const noFabric = usesFabric(benchmark) ? lacks.fabric : undefined;
      const reason = noFabric ?? (device ? lacks.gpu : undefined);
      return {
        name: column.name,
        runs: reason === undefined,
        ...(reason !== undefined && { reason }),
      };
    }),
  };
}

function sizesText({ minBytes, maxBytes }: Benchmark['sizes']): string {
  if (maxBytes === 0) return 'from its file';
  const [least, most] = [formatBytes(minBytes), formatBytes(maxBytes)];
  return least === most ? least : `${least}–${most}`;
}

function describe({ id, summary, needs, ranks, sizes, columns }: Listed): string {
  const runs = columns.filter((column) => column.runs).map((column) => column.name);
  const rest = columns.filter((column) => !column.runs);
  return [
    `${id}: ${summary}`,
    `  needs    ${[...needs, `${ranks} rank${ranks === 1 ? '' : 's'} or more`].join(', ')}; default sizes ${sizes}`,
    `  runs     ${runs.join(', ') || 'nothing on this machine'}`,
    ...[...groupBy(rest, ({ reason }) => reason)].map(
      ([reason, some]) => `  skipped  ${some.map(({ name }) => name).join(', ')} (${reason})`,
    ),
  ].join('\n');
}
