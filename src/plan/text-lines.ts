import { messageOf, WeftError } from '../errors.js';

/** A line of a text file that is neither empty nor a remark. */
export interface FileLine {
  readonly text: string;
  /** As an error names it. */
  readonly where: string;
}

/** The lines of a file; empty ones and those that begin with `#` are left out. */
export const linesOf = (text: string): FileLine[] =>
  text
    .split(/\r?\n/)
    .map((line, index) => ({ text: line.trim(), where: `line ${index + 1}` }))
    .filter((line) => line.text !== '' && !line.text.startsWith('#'));

/** What is wrong with a line. */
export class Mistake extends Error {}

export const lineError = (path: string, where: string, what: string, hint: string): WeftError =>
  new WeftError('BAD_USAGE', `${path}, ${where}: ${what}`, { hint });

/** Reads lines; a Mistake becomes BAD_USAGE with the path and the line. */
export const readLines = <T>(
  lines: readonly FileLine[],
  path: string,
  hint: string,
  read: (text: string, index: number) => T,
): T[] =>
  lines.map(({ text, where }, index) => {
    try {
      return read(text, index);
    } catch (cause) {
      if (!(cause instanceof Mistake)) throw cause;
      throw lineError(path, where, cause.message, hint);
    }
  });

/** The JSON object of a line. Throws a Mistake. */
export function objectOf(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new Mistake(`it is not JSON: ${messageOf(cause)}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Mistake('it is not a JSON object');
  }
  return value as Readonly<Record<string, unknown>>;
}
