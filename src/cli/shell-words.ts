import { WeftError } from '../errors.js';

/** A text as a shell splits it into words: blanks separate, quotes and backslashes keep together. Nothing is expanded. */
export function shellWords(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  for (const [, blank, single, double, escaped, plain] of text.matchAll(
    /(\s+)|'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^\s'"\\]+|['"\\])/gs,
  )) {
    if (blank !== undefined) {
      if (word !== undefined) words.push(word);
      word = undefined;
      continue;
    }
    if (plain !== undefined && /^['"\\]$/.test(plain)) {
      throw new WeftError('BAD_USAGE', `unclosed quote or trailing backslash in: ${text}`, {
        hint: 'Close every quote.',
      });
    }
    word = (word ?? '') + (single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? escaped ?? plain);
  }
  return word === undefined ? words : [...words, word];
}

/** The word as it can be pasted into a shell. */
export const shellQuoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
