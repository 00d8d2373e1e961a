import { readFileSync } from 'node:fs';
import module from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { benchmarkById, benchmarks } from '../benchmarks/index.js';
import { messageOf, WeftError } from '../errors.js';
import { packageRoot } from '../package-root.js';
import type { Benchmark } from '../runner/benchmark.js';

const isPath = (name: string): boolean => name.includes('/') || /\.[cm]?js$/.test(name);

/** A built-in benchmark by its id, or a user's by the path of its file, beside `from` where that is a file. */
export const findBenchmark = async (name: string, from?: string): Promise<Benchmark> =>
  isPath(name)
    ? loadBenchmark(resolve(from === undefined ? '.' : dirname(from), name))
    : benchmarkById(name);

/** A user's own benchmark: what its file exports by default. */
export async function loadBenchmark(file: string): Promise<Benchmark> {
  shareThisPackage();
  const { default: benchmark } = await importFile(file);
  if (!isBenchmark(benchmark)) {
    throw new WeftError('BAD_FILE', `${file} does not export a benchmark`, {
      hint: 'Export it by default: `export default defineBenchmark({ … })`. See docs/adding-a-benchmark.md.',
    });
  }
  if (benchmarks.some(({ id }) => id === benchmark.id)) {
    throw new WeftError('BAD_USAGE', `${file}: ${benchmark.id} is the id of a built-in benchmark`, {
      hint: 'Give yours another id.',
    });
  }
  return benchmark;
}

async function importFile(file: string): Promise<{ default?: unknown }> {
  try {
    return await import(pathToFileURL(file).href);
  } catch (cause) {
    const message = messageOf(cause);
    throw new WeftError('BAD_FILE', `${file} cannot be loaded: ${message}`, { cause });
  }
}

function isBenchmark(value: unknown): value is Benchmark {
  if (typeof value !== 'object' || value === null) return false;
  const { id, columns, sizes } = value as Partial<Benchmark>;
  const runs = ['turns', 'run', 'open'].some((key) => key in value);
  return typeof id === 'string' && Array.isArray(columns) && sizes !== undefined && runs;
}

let shared = false;

/** A user's file that imports this package gets this very copy of it, wherever the file lies. */
function shareThisPackage(): void {
  if (shared) return;
  shared = true;
  const manifest = pathToFileURL(join(packageRoot, 'package.json'));
  const { name } = JSON.parse(readFileSync(manifest, 'utf8')) as { name: string };
  const hook = `export const resolve = (specifier, context, next) =>
    next(specifier, specifier === ${JSON.stringify(name)} || specifier.startsWith(${JSON.stringify(`${name}/`)})
      ? { ...context, parentURL: ${JSON.stringify(manifest.href)} }
      : context);`;
  // Node before 20.6 cannot: there the file needs the package in a node_modules beside it.
  module.register?.(`data:text/javascript,${encodeURIComponent(hook)}`);
}
