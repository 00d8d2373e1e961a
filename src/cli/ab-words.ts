import { benchmarks } from '../benchmarks/index.js';
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
  const recorded: Record<string, unknown> = {
    ...settings,
    ...(settings.own as object | undefined),
  };
  const words = Object.entries(optionsOf(benchmark)).flatMap(([key, option]) => {
    const value = recorded[key];
    const known = value == null || leftOut.has(key);
    if (known || JSON.stringify(value) === JSON.stringify(defaults[key])) return [];
    if (isSwitch(option)) return value === true ? [[key, flagIn(option)] as const] : [];
    return [[key, `${flagIn(option)} ${shellQuoted(formatValue(option, value))}`] as const];
  });
  return new Map(words);
}

/** The first of its flags, which is the short one where there is one. */
const flagIn = ({ flags }: Option): string => flags.split(/[ ,]/)[0]!;

/** Under a launcher the launcher decides. */
const rankWords = ({ world: { ranks, launcher, hosts } }: Run): string[] =>
  launcher !== 'local' || hosts.length > 1 || ranks === defaultRanks ? [] : [`--ranks ${ranks}`];

function launchWords({ world: { ranks, launcher, hosts } }: Run): string {
  // Local ranks on several hosts: those of a lab.
  if (launcher === 'local') return hosts.length > 1 ? "--launch 'weft lab run --' " : '';
  if (launcher === 'srun') return `--launch 'srun -N ${hosts.length} -n ${ranks}' `;
  if (launcher === 'openmpi' || launcher === 'mpich') return `--launch 'mpirun -n ${ranks}' `;
  return launcher === 'torchrun' ? "--launch 'torchrun …' " : '';
}
