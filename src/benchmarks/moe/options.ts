import { WeftError } from '../../errors.js';
import { mostTopK, type Popularity, placements } from '../../plan/routing.js';
import type { Asked } from '../../runner/benchmark.js';
import {
  choice,
  numbers,
  onOff,
  option,
  type ValueKind,
  type ValuesOf,
  wholeNumber,
} from '../../settings/option.js';

const routing: ValueKind<string> = {
  parse: (text) => {
    popularityOf(text);
    return text;
  },
  inFile: 'text',
};

export const moeOptions = {
  tokens: option({
    flags: '--tokens <counts>',
    help: 'tokens per rank, one row each',
    kind: numbers(1, 2 ** 20),
    defaultText: '128,4096',
  }),
  hidden: option({
    flags: '--hidden <size>',
    help: 'values per token',
    kind: wholeNumber(1, 2 ** 20),
    default: 7168,
  }),
  dtype: option({
    flags: '--dtype <type>',
    help: 'dispatch type: bf16, fp8 with scales',
    kind: choice(['bf16', 'fp8']),
    default: 'bf16',
  }),
  experts: option({
    flags: '--experts <count>',
    help: 'experts on all ranks together',
    kind: wholeNumber(1, 2 ** 16),
    default: 256,
  }),
  topK: option({
    flags: '--top-k <count>',
    help: 'experts per token',
    kind: wholeNumber(1, mostTopK),
    default: 8,
  }),
  placement: option({
    flags: '--placement <mode>',
    help: 'place experts: block, round-robin',
    kind: choice(placements),
    default: 'block',
  }),
  routing: option({
    flags: '--routing <kind>',
    help: 'uniform, zipf:S, hot:N:SHARE, file',
    kind: routing,
    default: 'uniform',
  }),
  seed: option({
    flags: '--seed <number>',
    help: 'seed of the routing',
    kind: wholeNumber(0, 2 ** 32 - 1),
    default: 1,
  }),
  microBatches: option({
    flags: '--micro-batches <count>',
    help: 'micro-batches in Both',
    kind: wholeNumber(1, 64),
    defaultText: '1; 2 with --overlap',
  }),
  overlap: onOff('--overlap', 'overlap dispatch with the previous micro-batch'),
};

export type MoeOptions = typeof moeOptions;
export type MoeValues = ValuesOf<MoeOptions>;

/** Bytes of a token on its way to experts: fp8 has a float32 scale for every 128 values. */
export const dispatchBytes = ({ hidden, dtype }: MoeValues): number =>
  dtype === 'bf16' ? 2 * hidden : hidden + 4 * Math.ceil(hidden / 128);

/** Bytes of a token on its way back. */
export const combineBytes = ({ hidden }: MoeValues): number => 2 * hidden;

export const microBatchesOf = ({ microBatches, overlap }: MoeValues): number =>
  microBatches ?? (overlap ? 2 : 1);

/** Low latency and high throughput: the tokens per batch in the published results of DeepEP V1. */
const usualTokens = [128, 4096];

/** Each number of tokens once, smallest first. */
export const tokenCounts = ({ tokens = usualTokens }: MoeValues): number[] =>
  [...new Set(tokens)].sort((a, b) => a - b);

/** How experts are chosen, or undefined where a file says it. */
export function popularityOf(text: string): Popularity | undefined {
  const [kind, ...values] = text.split(':');
  const number = (value: string | undefined, least: number, most: number, must: string) => {
    const read = Number(value?.trim() || Number.NaN);
    if (read >= least && read <= most) return read;
    throw new Error(`It must be ${must}.`);
  };
  switch (kind) {
    case 'uniform':
      if (values.length === 0) return { kind };
      break;
    case 'zipf':
      if (values.length > 1) break;
      return { kind, exponent: number(values[0], 0, 10, 'zipf:S with S from 0 to 10') };
    case 'hot': {
      if (values.length > 2) break;
      const must = 'hot:N or hot:N:SHARE with N experts and a share from 0 to 1';
      const experts = number(values[0], 1, 2 ** 16, must);
      if (!Number.isInteger(experts)) break;
      return { kind, experts, share: number(values[1] ?? '0.5', 0, 1, must) };
    }
    default:
      // What has neither is more likely a slip of the pen than a file.
      if (/[./]/.test(text)) return undefined;
  }
  throw new Error('It must be uniform, zipf:S, hot:N[:SHARE] or a file, such as ./routing.');
}

const refusal = (message: string, hint: string): WeftError =>
  new WeftError('BAD_USAGE', message, { hint });

export function checkOptions({ options }: Asked<MoeOptions>): void {
  const { topK, experts, tokens, overlap, routing: asked } = options;
  if (topK > experts) {
    throw refusal(
      `\`topK\` ${topK} is more than \`experts\` ${experts}`,
      'Each token needs `topK` different experts.',
    );
  }
  if (overlap && microBatchesOf(options) < 2) {
    throw refusal('`overlap` needs at least 2 micro-batches', 'Raise or leave out `microBatches`.');
  }
  if (tokens !== undefined && popularityOf(asked) === undefined) {
    throw refusal('the routing file decides how many tokens there are', 'Leave `tokens` out.');
  }
}
