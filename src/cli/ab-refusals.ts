import { existsSync } from 'node:fs';
import { benchmarks } from '../benchmarks/index.js';
import { WeftError } from '../errors.js';
import { ancestors, identify } from '../world/index.js';

/** Ranks would each start all runs. */
export function refuseRanks(command = 'weft ab'): void {
  const { launcher } = identify(process.env, { ancestors, ranks: 1 });
  if (launcher === 'single') return;
  throw new WeftError(
    'BAD_USAGE',
    `${launcher} started ${command}, which must start the ranks itself`,
    {
      hint: `Start ${command} without a launcher and pass it with --launch: ${command} --launch 'srun -n 4' ….`,
    },
  );
}

const takenWords = ['--out', '--format', '--explain', '--live', '--nccl-json', '-J'];

export function refuseOwn(words: readonly string[]): void {
  const taken = words.find((word) => takenWords.includes(word.split('=')[0]!));
  if (taken === undefined) return;
  throw new WeftError('BAD_USAGE', `the runs of weft ab do not take ${taken}`, {
    hint: 'Remove it. --out and --format belong before the `--`.',
  });
}

export function refuseCommand(words: readonly string[]): void {
  refuseOwn(words);
  const [name = ''] = words;
  if (name === 'run' || benchmarks.some(({ id }) => id === name)) return;
  throw new WeftError('BAD_USAGE', `${name} is not a benchmark`, {
    hint: 'Use a benchmark from weft list, or run FILE.mjs.',
  });
}

export function refuseUsed(folder: string): void {
  if (!existsSync(folder)) return;
  throw new WeftError('BAD_USAGE', `${folder} already exists; weft ab does not overwrite results`, {
    hint: 'Name a new folder with --out.',
  });
}
