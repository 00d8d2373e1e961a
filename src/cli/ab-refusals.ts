import { existsSync } from 'node:fs';
import { benchmarks } from '../benchmarks/index.js';
import { WeftError } from '../errors.js';
import { ancestors, identify } from '../world/index.js';

/** Ranks would each start all runs. */
export function refuseRanks(): void {
  const { launcher } = identify(process.env, { ancestors, ranks: 1 });
  if (launcher === 'single') return;
  throw new WeftError('BAD_USAGE', `weft ab starts the runs itself, but ${launcher} started it`, {
    hint: "Start it once and pass the launcher: weft ab --launch 'srun -n 4' … -- write.",
  });
}

const takenWords = ['--out', '--format', '--explain', '--live', '--nccl-json', '-J'];

export function refuseOwn(words: readonly string[]): void {
  const taken = words.find((word) => takenWords.includes(word.split('=')[0]!));
  if (taken === undefined) return;
  throw new WeftError('BAD_USAGE', `${taken} has no effect on the runs of weft ab`, {
    hint: 'Put --out and --format before the `--`.',
  });
}

export function refuseCommand(words: readonly string[]): void {
  refuseOwn(words);
  const [name = ''] = words;
  if (name === 'run' || benchmarks.some(({ id }) => id === name)) return;
  throw new WeftError('BAD_USAGE', `weft ab runs benchmarks; ${name} is none`, {
    hint: 'Name one of those that weft list shows, or run FILE.mjs.',
  });
}

export function refuseUsed(folder: string): void {
  if (!existsSync(folder)) return;
  throw new WeftError('BAD_USAGE', `${folder} exists, and results are never overwritten`, {
    hint: 'Name a new folder with --out.',
  });
}
