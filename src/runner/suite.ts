import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { WeftError } from '../errors.js';
import { parseBytes } from '../measure/units.js';
import type { Benchmark } from './benchmark.js';
import { columnsOf, defaultSettings, type Settings, sizesOf } from './settings.js';

/** One benchmark of a suite, with everything decided. */
export interface SuiteEntry {
  readonly benchmark: Benchmark;
  readonly settings: Settings;
}

const bytes = z
  .union([z.int().positive(), z.string()])
  .transform((value) => parseBytes(String(value)));

const settingsShape = {
  provider: z.string(),
  gpus: z.array(z.int().nonnegative()).min(1),
  nics: z.array(z.string()),
  channels: z.int().positive(),
  lineRateGbps: z.number().positive(),
  minBytes: bytes,
  maxBytes: bytes,
  stepFactor: z.number().gt(1),
  stepBytes: bytes,
  timeoutMs: z.int().positive(),
  pin: z.enum(['auto', 'none']),
  iterations: z.int().positive(),
  warmup: z.int().nonnegative(),
  repeats: z.int().positive(),
  budgetMs: z.number().positive(),
  check: z.boolean(),
  columns: z.array(z.string()),
  buffers: z.int().positive(),
  chunkBytes: bytes,
  window: z.int().positive(),
  /** A benchmark's own options, by their keys, as they would stand on the command line. */
  options: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
};

const entrySchema = z.strictObject({ benchmark: z.string(), ...settingsShape }).partial({
  ...Object.fromEntries(Object.keys(settingsShape).map((key) => [key, true])),
} as Record<keyof typeof settingsShape, true>);

/** A suite file: `defaults` for all, then what to run in order. */
const suiteSchema = z.strictObject({
  defaults: z.strictObject(settingsShape).omit({ options: true }).partial().optional(),
  runs: z.array(entrySchema).min(1),
});

/** Small enough for every machine and about 40 seconds; shm for the processes of a host, tcp for the network stack. */
const defaultSuite = {
  defaults: { minBytes: '64K', maxBytes: '16M', stepFactor: 4, budgetMs: 250, channels: 2 },
  runs: ['shm', 'tcp'].flatMap((provider) =>
    ['sendrecv', 'write', 'all2all'].map((benchmark) => ({ benchmark, provider })),
  ),
};

export function loadSuite(
  file: string | undefined,
  benchmarkById: (id: string) => Benchmark,
): SuiteEntry[] {
  const source = file === undefined ? defaultSuite : readYaml(file);
  const name = file ?? 'the default suite';
  const result = suiteSchema.safeParse(source);
  if (!result.success) throw badSuite(name, z.prettifyError(result.error));
  return result.data.runs.map((run) => {
    const { benchmark: id, options, ...own } = run;
    const { defaults } = result.data;
    const benchmark = benchmarkById(id);
    const { minBytes, maxBytes, factor } = benchmark.sizes;
    const sizes = { minBytes, maxBytes, stepFactor: factor };
    const settings: Settings = {
      ...defaultSettings,
      ...sizes,
      ...defaults,
      ...own,
      ...(options && { own: ownSettings(benchmark, options, name) }),
    };
    sizesOf(settings);
    columnsOf(benchmark, settings.columns);
    return { benchmark, settings };
  });
}

function ownSettings(
  { id, options = [] }: Benchmark,
  given: Readonly<Record<string, string | number | boolean>>,
  file: string,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(given).map(([key, value]) => {
      const option = options.find((one) => one.key === key);
      if (!option) throw badSuite(file, `${id} has no option ${key}`);
      try {
        return [key, option.parse ? option.parse(String(value)) : value === true];
      } catch (cause) {
        throw badSuite(file, `${id}'s ${key}: ${(cause as Error).message}`, cause);
      }
    }),
  );
}

function readYaml(file: string): unknown {
  try {
    return parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw badSuite(file, cause instanceof Error ? cause.message : String(cause), cause);
  }
}

const badSuite = (file: string, why: string, cause?: unknown): WeftError =>
  new WeftError('BAD_USAGE', `${file} is not a suite: ${why}`, {
    hint: 'A suite is YAML with `runs:`, a list of `benchmark:` and its settings; see docs/suites.md.',
    cause,
  });
