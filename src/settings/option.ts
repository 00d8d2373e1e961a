import { isWeftError, messageOf } from '../errors.js';
import { formatBytes, formatDuration, parseBytes, parseDuration } from '../measure/units.js';

/** How values of one kind are written, on a command line and in a suite file. */
export interface ValueKind<T> {
  /** Reads a command-line argument. Throws an Error whose message says what it must be. */
  parse(text: string): T;
  /** Reads what a suite file holds. Absent: lists are joined with commas, and `parse` reads the text. */
  read?(value: unknown): T;
  /** Writes a value as `parse` reads it. Absent: as text. */
  format?(value: T): string;
  /** What a suite file holds, in a word or two. */
  readonly inFile: string;
}

/** One option: its flag, its help, its kind of value and its default. `D` is undefined where it has none. */
export interface Option<T = unknown, D extends T | undefined = T | undefined> {
  /** `-b, --min-bytes <size>`; an option without `<value>` is a switch. */
  readonly flags: string;
  /** One line that starts with a verb or a noun. */
  readonly help: string;
  readonly kind: ValueKind<T>;
  readonly default: D;
  /** What help says of a default that is not a constant. */
  readonly defaultText?: string;
}

/** Options by the key under which their values are found. */
export type OptionTable = Readonly<Record<string, Option>>;

type KeysWithDefault<O extends OptionTable> = {
  [K in keyof O]: O[K] extends Option<infer _, infer D> ? (undefined extends D ? never : K) : never;
}[keyof O];
type ValueOf<O> = O extends Option<infer T, infer _> ? T : never;

/** The values of a table's options. Those with a default are always there. */
export type ValuesOf<O extends OptionTable> = {
  readonly [K in KeysWithDefault<O>]: ValueOf<O[K]>;
} & { readonly [K in Exclude<keyof O, KeysWithDefault<O>>]?: ValueOf<O[K]> };

interface OptionParts<T> {
  flags: string;
  help: string;
  kind: ValueKind<T>;
  defaultText?: string;
}

/** An option with a value. Without a default, the value is `undefined` unless given. */
export function option<T>(parts: OptionParts<T> & { default: NoInfer<T> }): Option<T, T>;
export function option<T>(parts: OptionParts<T>): Option<T, undefined>;
export function option<T>(parts: OptionParts<T> & { default?: T }): Option<T> {
  return { default: undefined, ...parts };
}

/** A switch: off unless given. */
export const onOff = (flags: string, help: string): Option<boolean, boolean> =>
  option({ flags, help, kind: trueOrFalse, default: false });

/** The long flag alone: `--min-bytes`. */
export const flagOf = ({ flags }: Option): string => /--[a-z0-9-]+/.exec(flags)?.[0] ?? flags;

export const isSwitch = ({ flags }: Option): boolean => !flags.includes('<');

/** Reads a value of a suite file. Throws an Error whose message says what it must be. */
export function readValue<T>({ kind }: Option<T>, value: unknown): T {
  if (kind.read) return kind.read(value);
  const list = Array.isArray(value) ? value : [value];
  if (list.some((one) => typeof one !== 'string' && typeof one !== 'number')) {
    throw new Error(`It must be a ${kind.inFile}.`);
  }
  return kind.parse(list.join(','));
}

export const formatValue = <T>({ kind }: Option<T>, value: T): string =>
  kind.format ? kind.format(value) : Array.isArray(value) ? value.join(',') : String(value);

export function messageWithHint(error: unknown): string {
  const hint = isWeftError(error) && error.hint ? `. ${error.hint}` : '';
  return `${messageOf(error)}${hint}`;
}

const numberKind = (must: string, inFile: string, fits: (value: number) => boolean) =>
  ({
    parse: (text) => {
      const value = Number(text);
      if (text.trim() === '' || !fits(value)) throw new Error(`It must be ${must}.`);
      return value;
    },
    inFile,
  }) satisfies ValueKind<number>;

/** A whole number from `least` to `most`. */
export const wholeNumber = (least: number, most = Number.MAX_SAFE_INTEGER): ValueKind<number> =>
  numberKind(
    most === Number.MAX_SAFE_INTEGER
      ? `a whole number, ${least} or more`
      : `a whole number from ${least} to ${most}`,
    'whole number',
    (value) => Number.isSafeInteger(value) && value >= least && value <= most,
  );

/** A number above `least`. */
export const numberAbove = (least: number): ValueKind<number> =>
  numberKind(
    `a number above ${least}`,
    'number',
    (value) => Number.isFinite(value) && value > least,
  );

/** A number from `least` to `most`. */
export const numberBetween = (least: number, most: number): ValueKind<number> =>
  numberKind(
    `a number from ${least} to ${most}`,
    'number',
    (value) => value >= least && value <= most,
  );

export const percent: ValueKind<number> = numberKind(
  'a percentage, 0 or more',
  'number',
  (value) => Number.isFinite(value) && value >= 0,
);

/** Bytes, with K, M or G for powers of two. */
export const size: ValueKind<number> = {
  parse: (text) => parseBytes(text),
  format: formatBytes,
  inFile: 'number, or text with K, M or G',
};

export const sizeAboveZero: ValueKind<number> = {
  ...size,
  parse: (text) => {
    const bytes = parseBytes(text);
    if (bytes === 0) throw new Error('It must be more than 0.');
    return bytes;
  },
};

/** Any text. */
export const text: ValueKind<string> = { parse: (value) => value, inFile: 'text' };

/** Names separated by commas. */
export const names: ValueKind<readonly string[]> = {
  parse: (value) => {
    const list = value.split(',').map((name) => name.trim());
    if (list.some((name) => name === '')) throw new Error('It must be names separated by commas.');
    return list;
  },
  inFile: 'list of names',
};

/** Whole numbers from `least` to `most`, separated by commas. */
export const numbers = (least: number, most: number): ValueKind<readonly number[]> => ({
  parse: (value) => {
    const list = value.split(',').map((part) => Number(part.trim() || Number.NaN));
    if (list.every((one) => Number.isInteger(one) && one >= least && one <= most)) return list;
    throw new Error(`It must be whole numbers from ${least} to ${most}, separated by commas.`);
  },
  inFile: 'list of numbers',
});

/** One of these words. */
export const choice = <const T extends string>(values: readonly T[]): ValueKind<T> => ({
  parse: (value) => {
    const found = values.find((one) => one === value);
    if (found !== undefined) return found;
    throw new Error(`It must be ${values.slice(0, -1).join(', ')} or ${values.at(-1)}.`);
  },
  inFile: values.map((value) => `\`${value}\``).join(' or '),
});

/** Some of these words, separated by commas, each once. */
export const several = <const T extends string>(
  values: readonly T[],
  what: string,
): ValueKind<readonly T[]> => ({
  parse: (value) => {
    const words = value.split(',').map((word) => word.trim().toLowerCase());
    const known = words.filter((word): word is T => values.some((one) => one === word));
    if (known.length === words.length) return [...new Set(known)];
    throw new Error(`It must be ${values.join(', ')}, or several separated by commas.`);
  },
  inFile: `list of ${what}`,
});

const boolean = (value: unknown): boolean => {
  if (typeof value === 'boolean') return value;
  throw new Error('It must be true or false.');
};

const trueOrFalse: ValueKind<boolean> = {
  parse: () => true,
  read: boolean,
  inFile: '`true` or `false`',
};

/** 0 or 1 on a command line, as nccl-tests has it; true or false in a file. */
export const zeroOrOne: ValueKind<boolean> = {
  parse: (value) => choice(['0', '1']).parse(value) === '1',
  read: boolean,
  format: (value) => (value ? '1' : '0'),
  inFile: '`true` or `false`',
};

/** Timers of JavaScript end after 24.8 days, and deadlines are sums of some of these. */
function atMostAWeek(milliseconds: number): number {
  if (milliseconds <= 7 * 24 * 3600 * 1000) return milliseconds;
  throw new Error('It must be at most a week (604800 seconds).');
}

/** Seconds on a command line, milliseconds in a file and in code. */
export const seconds: ValueKind<number> = {
  parse: (value) => atMostAWeek(Math.ceil(numberAbove(0).parse(value) * 1000)),
  read: (value) => atMostAWeek(numberAbove(0).parse(String(value))),
  format: (milliseconds) => String(milliseconds / 1000),
  inFile: 'milliseconds',
};

/** A time span such as 8h, above 0; milliseconds in code. */
export const duration: ValueKind<number> = {
  parse: (value) => {
    const milliseconds = parseDuration(value);
    if (milliseconds === 0) throw new Error('It must be more than 0.');
    return milliseconds;
  },
  format: formatDuration,
  inFile: 'text such as `90s`',
};

/** A time span to wait at most. */
export const patience: ValueKind<number> = {
  ...duration,
  parse: (value) => atMostAWeek(duration.parse(value)),
};
