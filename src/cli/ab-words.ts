import type { OptionValues } from '../analysis/advice/change.js';
import { benchmarkById, benchmarks } from '../benchmarks/index.js';
import type { Run } from '../results/schema.js';
import { type Benchmark, optionsOf } from '../runner/benchmark.js';
import { jobOf } from '../runner/job.js';
import { preferredPacing } from '../session/pacing.js';
import { formatValue, isSwitch, type Option } from '../settings/option.js';
import { shellQuoted } from './shell-words.js';
import { defaultRanks } from './show-options.js';

/** Where and how long is today's affair. */
const leftOut = new Set(['timeoutMs', 'pin', 'check', 'repeats']);

/**
 * What follows `weft ab` in the command that measures two recorded runs in turns: what they share after `--`, what
 * differs in `--a` and `--b`. Differences that run files do not show are left for the user to fill in: `…`.
 */
export function abWords(a: Run, b: Run): string | undefined {
  const benchmark = benchmarks.find(({ id }) => id === a.benchmark);
  if (benchmark === undefined) return undefined;
  const [wordsA, wordsB] = [optionWords(benchmark, a), optionWords(benchmark, b)];
  const shared = [...wordsA].filter(([key, words]) => wordsB.get(key) === words);
  const own = (words: ReadonlyMap<string, string>, run: Run, other: Run) => [
    ...(run.fabric.library === other.fabric.library ? [] : libraryWords(run)),
    ...[...words].filter(([key]) => !shared.some(([same]) => same === key)).map(([, word]) => word),
  ];
  const [onlyA, onlyB] = [own(wordsA, a, b), own(wordsB, b, a)].map((words) => words.join(' '));
  const unseen = onlyA === onlyB;
  const variants = [onlyA, onlyB].map((words) => shellQuoted(unseen ? '…' : words!));
  const rest = [a.benchmark, ...rankWords(a), ...shared.map(([, words]) => words)].join(' ');
  return `${launchWords(a)}--a ${variants[0]} --b ${variants[1]} -- ${rest}`;
}

const libraryWords = ({ fabric: { library } }: Run): string[] =>
  library === null ? [] : [`WEFT_LIBFABRIC=${shellQuoted(library)}`];

/** The options of a run that are not defaults, as words by their key. */
function optionWords(benchmark: Benchmark, { settings, fabric }: Run): Map<string, string> {
  const { settings: usual, options } = jobOf(benchmark, {});
  const pacing = fabric.provider === null ? {} : preferredPacing(fabric.provider);
  const defaults: Record<string, unknown> = { ...usual, ...pacing, ...options };
  const recorded = { ...settings, ...(settings.own as object | undefined) };
  const different = Object.entries(recorded).filter(
    ([key, value]) => !leftOut.has(key) && JSON.stringify(value) !== JSON.stringify(defaults[key]),
  );
  return wordsOf(benchmark, Object.fromEntries(different));
}

/** Options of a benchmark as words by their key, in the order of its help. */
function wordsOf(benchmark: Benchmark, values: OptionValues): Map<string, string> {
  const words = Object.entries(optionsOf(benchmark)).flatMap(([key, option]) => {
    const value = values[key];
    if (value == null) return [];
    if (isSwitch(option)) return value === true ? [[key, flagIn(option)] as const] : [];
    return [[key, `${flagIn(option)} ${shellQuoted(formatValue(option, value))}`] as const];
  });
  return new Map(words);
}

/** The words of options that one side of a change has, defaults too. */
export const variantWords = (run: Run, values: OptionValues): string =>
  [...wordsOf(benchmarkById(run.benchmark), values).values()].join(' ');

/** A benchmark and its options, as the run had them but for those that `changed` has. */
export function runWords(run: Run, changed: OptionValues): string {
  const benchmark = benchmarkById(run.benchmark);
  const words = new Map([...optionWords(benchmark, run)].filter(([key]) => !(key in changed)));
  const all = [...words.values(), variantWords(run, changed)].filter((word) => word !== '');
  return [run.benchmark, ...rankWords(run), ...all].join(' ');
}

/** The command line that measures a run again with other options; undefined where its benchmark is not one of Weft's. */
export function commandLine(run: Run, changed: OptionValues): string | undefined {
  if (!benchmarks.some(({ id }) => id === run.benchmark)) return undefined;
  const launcher = launcherOf(run);
  const words = runWords(run, changed);
  if (launcher === undefined) return `weft ${words}`;
  return `${launcher} ${launcher.startsWith('weft ') ? '' : 'weft '}${words}`;
}

/** The first of its flags, which is the short one where there is one. */
const flagIn = ({ flags }: Option): string => flags.split(/[ ,]/)[0]!;

/** Under a launcher the launcher decides. */
const rankWords = ({ world: { ranks, launcher, hosts } }: Run): string[] =>
  launcher !== 'local' || hosts.length > 1 || ranks === defaultRanks ? [] : [`--ranks ${ranks}`];

const launchWords = (run: Run): string => {
  const launcher = launcherOf(run);
  return launcher === undefined ? '' : `--launch '${launcher}' `;
};

/** What started the ranks of a run, as far as its file says; undefined: Weft itself, on one host. */
export function launcherOf({ world: { ranks, launcher, hosts } }: Run): string | undefined {
  // Local ranks on several hosts: those of a lab.
  if (launcher === 'local') return hosts.length > 1 ? 'weft lab run --' : undefined;
  if (launcher === 'srun') return `srun -N ${hosts.length} -n ${ranks}`;
  if (launcher === 'openmpi' || launcher === 'mpich') return `mpirun -n ${ranks}`;
  return launcher === 'torchrun' ? 'torchrun …' : undefined;
}
