import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { WeftError } from '../errors.js';
import { messageWithHint, type OptionTable, readValue } from '../settings/option.js';
import { commonOptions } from '../settings/table.js';
import { type Benchmark, optionsOf } from './benchmark.js';
import { type Given, type Job, jobOf } from './job.js';

const settings = z.record(z.string(), z.unknown());

/** A suite file: `defaults` for all, then what to run in order. Settings are checked against the table of options. */
const suiteSchema = z.strictObject({
  defaults: settings.optional(),
  runs: z.array(z.looseObject({ benchmark: z.string(), options: settings.optional() })).min(1),
});

/** Small enough for every machine and about 40 seconds; shm for the processes of a host, tcp for the network stack. */
const defaultSuite = {
  defaults: { minBytes: '64K', maxBytes: '16M', stepFactor: 4, budgetMs: 250, channels: 2 },
  runs: ['shm', 'tcp'].flatMap((provider) =>
    ['sendrecv', 'write', 'all2all'].map((benchmark) => ({ benchmark, provider })),
  ),
};

/** `find` knows benchmarks by the name or the path that stands in the file. */
export async function loadSuite(
  file: string | undefined,
  find: (name: string) => Promise<Benchmark>,
): Promise<Job[]> {
  const name = file ?? 'the default suite';
  const result = suiteSchema.safeParse(file === undefined ? defaultSuite : readYaml(file));
  if (!result.success) throw badSuite(name, z.prettifyError(result.error));
  const { defaults = {}, runs } = result.data;
  const common = readAll(commonOptions, defaults, name, 'defaults');
  const jobs: Job[] = [];
  for (const { benchmark: id, options = {}, ...own } of runs) {
    const benchmark = await find(id);
    const given = readAll(optionsOf(benchmark), { ...own, ...options }, name, id);
    jobs.push(jobOf(benchmark, { ...common, ...given }));
  }
  return jobs;
}

/** The values of a file, by the rules of the command line. */
function readAll(table: OptionTable, values: Given, file: string, where: string): Given {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => {
      const option = table[key];
      if (!option) throw badSuite(file, `${where} has no setting ${key}`);
      try {
        return [key, readValue(option, value)];
      } catch (cause) {
        throw badSuite(file, `${key} of ${where}: ${messageWithHint(cause)}`, cause);
      }
    }),
  );
}

function readYaml(file: string): unknown {
  try {
    return parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw badSuite(file, messageWithHint(cause), cause);
  }
}

const badSuite = (file: string, why: string, cause?: unknown): WeftError =>
  new WeftError('BAD_USAGE', `${file} is not a suite: ${why}`, {
    hint: 'A suite is YAML with `runs:`, a list of `benchmark:` and its settings. See docs/suites.md.',
    cause,
  });
