import { readFileSync } from 'node:fs';
import { messageOf, WeftError } from '../errors.js';

/** The text of a file that every rank reads. */
export function inputText(path: string, hint: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new WeftError('BAD_USAGE', `cannot read ${path}: ${messageOf(cause)}`, { hint, cause });
  }
}

/** Keeps the last `most` values: a run asks for the same few again and again. */
export const remembered = <K extends object, T>(make: (key: K) => T, most: number) => {
  const known = new Map<string, T>();
  return (key: K): T => {
    const name = JSON.stringify(key);
    const value = known.get(name) ?? make(key);
    known.delete(name);
    known.set(name, value);
    if (known.size > most) known.delete(known.keys().next().value!);
    return value;
  };
};
