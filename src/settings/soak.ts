import { parseDuration } from '../measure/units.js';
import { duration, onOff, option, type ValueKind, type ValuesOf } from './option.js';

/** How much longer than usual an iteration may take: a time, or a multiple of the usual one. */
export type StallLimit = { readonly milliseconds: number } | { readonly factor: number };

const stallLimit: ValueKind<StallLimit> = {
  parse: (text) => {
    const factor = /^(\d+(?:\.\d+)?)x$/i.exec(text.trim())?.[1];
    if (factor === undefined) return { milliseconds: duration.parse(text) };
    if (Number(factor) > 1) return { factor: Number(factor) };
    throw new Error('A multiple must be more than 1x.');
  },
  format: (limit) =>
    'factor' in limit ? `${limit.factor}x` : duration.format!(limit.milliseconds),
  inFile: 'text such as `250ms` or `3x`',
};

/** Timers and clocks end there; a month and more of soaking is one run after the other. */
const mostMs = parseDuration('365d');

const span: ValueKind<number> = {
  ...duration,
  parse: (text) => {
    const milliseconds = duration.parse(text);
    if (milliseconds <= mostMs) return milliseconds;
    throw new Error('It must be at most 365d.');
  },
};

const shortestIntervalMs = 10;

export const soakOptions = {
  forMs: option({
    flags: '--for <time>',
    help: 'stop after this time, e.g. 8h',
    kind: span,
    defaultText: 'until Ctrl-C',
  }),
  everyMs: option({
    flags: '--every <time>',
    help: 'length of an interval',
    kind: {
      ...span,
      parse: (text) => {
        const milliseconds = span.parse(text);
        if (milliseconds >= shortestIntervalMs) return milliseconds;
        throw new Error(`It must be ${shortestIntervalMs}ms or more.`);
      },
    },
    default: 60_000,
  }),
  reopen: onOff('--reopen', 'open new connections for every interval'),
  stall: option({
    flags: '--stall <limit>',
    help: 'stall limit, e.g. 250ms or 3x',
    kind: stallLimit,
    defaultText: '100ms and 1.5x',
  }),
};

export type SoakSettings = ValuesOf<typeof soakOptions>;

const leastExtraMs = 100;
const extraShare = 0.5;

/** How much longer than usual a time must be to count as a stall. */
export function stallAfterMs(usualMs: number, limit: StallLimit | undefined): number {
  if (limit === undefined) return Math.max(leastExtraMs, extraShare * usualMs);
  return 'factor' in limit ? (limit.factor - 1) * usualMs : limit.milliseconds;
}
