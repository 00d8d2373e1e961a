import { createHash } from 'node:crypto';
import { WeftError } from '../errors.js';
import { gbpsOf } from '../measure/units.js';
import { type Trace, type TracedTransfer, traceOf } from '../plan/patterns/trace.js';
import { multi, roundRobin, single } from '../plan/strategies.js';
import { busiestBytes } from '../plan/traffic.js';
import { parseTrafficFile } from '../plan/traffic-file.js';
import { defineBenchmark } from '../runner/benchmark.js';
import { columns, device, pinned } from '../runner/columns.js';
import { numberAbove, option, text, type ValuesOf } from '../settings/option.js';
import { inputText, remembered } from './input-file.js';
import { refuseLate } from './refusals.js';

const options = {
  file: option({
    flags: '--file <file>',
    help: 'matrix, list or trace of transfers',
    kind: text,
  }),
  scaleBytes: option({
    flags: '--scale-bytes <factor>',
    help: 'multiply the bytes of every transfer',
    kind: numberAbove(0),
    default: 1,
  }),
  scaleTime: option({
    flags: '--scale-time <factor>',
    help: 'multiply the times of a trace',
    kind: numberAbove(0),
    default: 1,
  }),
};

type Options = ValuesOf<typeof options>;

export const traffic = defineBenchmark({
  id: 'traffic',
  summary: 'Run your own traffic: a byte matrix, a list of transfers, or a trace with times.',
  ranks: { min: 2 },
  columns: columns([single, multi, roundRobin], [pinned, device]),
  // The file decides.
  sizes: { minBytes: 0, maxBytes: 0, factor: 2 },
  without: ['minBytes', 'maxBytes', 'stepFactor', 'stepBytes'],
  clock: 'slowest',
  pattern: 'traffic',
  options,
  argument: 'file',
  check: ({ settings, options }) => {
    const last = scaled(options).reduce((most, one) => Math.max(most, one.notBefore ?? 0), 0);
    refuseLate(settings, 'the last transfer', last, 'a smaller `scaleTime`');
  },
  usualRanks: ({ options }) => read(options).world,
  preflight: ({ options }, ranks) => void traced(options, ranks),
  sizesOf: ({ options }) => [bytesOf(scaled(options))],
  inputHash: ({ options }) =>
    createHash('sha256').update(read(options).text).digest('hex').slice(0, 12),
  turns: ({ world, options }) => {
    const trace = traced(options, world);
    const busiest = busiestBytes(trace.traffic);
    return [
      {
        traffic: trace.traffic,
        plan: (situation) => trace.plan(situation),
        figureBytes: { figure: busiest, line: busiest },
      },
    ];
  },
  figures: ({ situation: { options }, nanoseconds }) => ({
    totalGbps: gbpsOf(bytesOf(scaled(options)), nanoseconds.mean),
  }),
});

const readOnce = remembered(({ file }: { file: string }) => {
  const text = inputText(file, 'Every host needs the file at this path.');
  return { ...parseTrafficFile(text, file), text };
}, 4);

function read({ file }: Options) {
  if (file !== undefined) return readOnce({ file });
  throw new WeftError('BAD_USAGE', 'traffic needs a file', {
    hint: 'Name a matrix, a list or a trace of transfers; see docs/traffic-files.md.',
  });
}

/** What is there stays there: a factor never makes a transfer of some bytes one of none. */
function scaled(options: Options): TracedTransfer[] {
  const { scaleBytes, scaleTime } = options;
  return read(options).transfers.map((one) => ({
    ...one,
    bytes: one.bytes === 0 ? 0 : Math.max(1, Math.round(one.bytes * scaleBytes)),
    ...(one.notBefore !== undefined && { notBefore: Math.round(one.notBefore * scaleTime) }),
  }));
}

function traced(options: Options, ranks: number): Trace {
  const { world } = read(options);
  if (ranks >= world) return traceOf('traffic', ranks, scaled(options));
  throw new WeftError('BAD_USAGE', `${options.file} is for ${world} ranks, not ${ranks}`, {
    hint: `Start ${world} ranks or more.`,
  });
}

const bytesOf = (transfers: readonly { readonly bytes: number }[]): number =>
  transfers.reduce((sum, { bytes }) => sum + bytes, 0);
