import { InvalidArgumentError } from 'commander';
import { isWeftError } from '../errors.js';
import { parseBytes } from '../measure/units.js';
import { maxWorld } from '../plan/plan.js';

/** Turns a parser's error into commander's, which names the option. */
export function parsed<T>(parse: (text: string) => T): (text: string) => T {
  return (text) => {
    try {
      return parse(text);
    } catch (error) {
      const hint = isWeftError(error) && error.hint ? ` ${error.hint}` : '';
      const message = error instanceof Error ? error.message : String(error);
      throw new InvalidArgumentError(`${message}${hint && `.${hint}`}`);
    }
  };
}

export const bytes = parsed((text) => parseBytes(text));
export const someBytes = parsed((text) => {
  const size = parseBytes(text);
  if (size === 0) throw new Error('It must be more than 0.');
  return size;
});

const number = (what: string, check: (value: number) => boolean) =>
  parsed((text) => {
    const value = Number(text);
    if (text.trim() === '' || !check(value)) throw new Error(`It must be ${what}.`);
    return value;
  });

export const positive = number(
  'a whole number above 0',
  (value) => Number.isSafeInteger(value) && value > 0,
);
export const rankCount = number(
  `a whole number from 1 to ${maxWorld}`,
  (value) => Number.isInteger(value) && value > 0 && value <= maxWorld,
);
export const natural = number(
  'a whole number, 0 or more',
  (value) => Number.isSafeInteger(value) && value >= 0,
);
export const percent = number(
  'a number of percent, 0 or more',
  (value) => Number.isFinite(value) && value >= 0,
);
export const rate = number('a number above 0', (value) => Number.isFinite(value) && value > 0);
export const factor = number('a number above 1', (value) => Number.isFinite(value) && value > 1);
export const names = parsed((text) => {
  const list = text.split(',').map((name) => name.trim());
  if (list.some((name) => name === ''))
    throw new Error('It must be names with commas between them.');
  return list;
});
export const numbers = parsed((text) => {
  const list = text.split(',').map((part) => part.trim());
  if (list.some((part) => !/^\d{1,4}$/.test(part)))
    throw new Error('It must be numbers with commas between them: 0,2.');
  return list.map(Number);
});
