import type { Dice } from './dice.js';

/** Numbers at which programs break. */
const oddNumbers = [
  ...[0, -0, 1, -1, 0.5, 7, 255, 256, 65_535, 65_536, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32],
  ...[2 ** 40, 2 ** 53 - 1, 2 ** 53, 2 ** 63, 2 ** 64, 1e21, 1e300, 5e-324, -(2 ** 31), -(2 ** 53)],
];

export const oddNumber = (dice: Dice): number =>
  dice.chance(0.5) ? dice.pick(oddNumbers) : dice.below(40) - 4;

const oddTexts = [
  ...['', ' ', '\0', '\n', '\r\n', '\t', '"', "'", '<', '>', '&', '%', '\\', '/', '..', '\ufeff'],
  ...['\u2028', '\ud800', '\u202e', '😀', 'é', '\x1b[31m', '<script>alert(1)</script>', '$(x)'],
  ...['null', 'undefined', 'NaN', 'Infinity', '-Infinity', '__proto__', 'constructor', 'toString'],
  ...['{}', '[]', '{', '}', '[', ']', ',', ';', ':', '=', '#', '-', '--', '|', '*', '!', '?'],
  ...[
    '1e999',
    '0x10',
    '1_000',
    '9'.repeat(400),
    'a'.repeat(2000),
    '['.repeat(3000),
    '../'.repeat(40),
  ],
];

export const oddText = (dice: Dice, words: readonly string[] = []): string =>
  words.length > 0 && dice.chance(0.5)
    ? dice.pick(words)
    : dice.chance(0.3)
      ? String(oddNumber(dice))
      : dice.chance(0.8)
        ? dice.pick(oddTexts)
        : randomText(dice, 20);

const randomText = (dice: Dice, most: number): string =>
  String.fromCharCode(
    ...Array.from({ length: dice.length(most) }, () => dice.below(dice.chance(0.9) ? 256 : 65_536)),
  );

type Edit = (text: string, at: number, dice: Dice, words: readonly string[]) => string;

const edits: readonly Edit[] = [
  (text, at, dice) => text.slice(0, at) + text.slice(at + 1 + dice.length(40)),
  (text, at, dice, words) => text.slice(0, at) + oddText(dice, words) + text.slice(at),
  (text, at, dice) => text.slice(0, at) + String.fromCharCode(dice.below(256)) + text.slice(at + 1),
  // A piece from elsewhere, perhaps often.
  (text, at, dice) => {
    const from = dice.below(text.length + 1);
    const piece = text.slice(from, from + 1 + dice.length(200));
    return text.slice(0, at) + piece.repeat(1 + dice.length(30)) + text.slice(at);
  },
  // Another number in the place of the next one.
  (text, at, dice) =>
    text.slice(0, at) + text.slice(at).replace(/-?\d[\d.]*/, String(oddNumber(dice))),
  // Another word in the place of the next one.
  (text, at, dice, words) =>
    text.slice(0, at) + text.slice(at).replace(/[A-Za-z_]\w*/, () => oddText(dice, words)),
  // Another line, or none, in the place of the next one.
  (text, at, dice) => {
    const lines = text.split('\n');
    const index = text.slice(0, at).split('\n').length - 1;
    lines.splice(index, 1, ...(dice.chance(0.5) ? [dice.pick(lines)] : []));
    return lines.join('\n');
  },
  (text, at) => text.slice(0, at),
];

const longest = 100_000;

/** A text that was good, with some things wrong; now and then it has nothing in common with it. */
export function mutateText(dice: Dice, good: string, words: readonly string[] = []): string {
  if (dice.chance(0.01)) return randomText(dice, 400);
  let text = good;
  // The last edit, which cuts the end off, is rare.
  for (let count = 1 + dice.length(8); count > 0; count--) {
    const edit = edits[dice.below(edits.length - (dice.chance(0.9) ? 1 : 0))]!;
    text = edit(text, dice.below(text.length + 1), dice, words).slice(0, longest);
  }
  return text;
}

export const mutateBytes = (dice: Dice, good: Buffer): Buffer =>
  Buffer.from(mutateText(dice, good.toString('latin1')), 'latin1');

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const oddJson = (dice: Dice, words: readonly string[]): Json =>
  dice.pick<() => Json>([
    () => null,
    () => dice.chance(0.5),
    () => oddNumber(dice),
    () => oddText(dice, words),
    () => [],
    () => ({}),
    () => Array.from({ length: dice.length(300) }, () => oddNumber(dice)),
    () => ({ [oddText(dice, words)]: oddNumber(dice) }),
    () => deep(dice.length(2000)),
  ])();

const deep = (levels: number): Json => {
  let value: Json = [];
  for (let i = 0; i < levels; i++) value = [value];
  return value;
};

/** A copy with some values replaced, removed, repeated or renamed. */
export function mutateJson(dice: Dice, good: Json, words: readonly string[] = []): Json {
  let value = good;
  for (let count = 1 + dice.length(4); count > 0; count--) value = changed(dice, value, words);
  return value;
}

function changed(dice: Dice, value: Json, words: readonly string[]): Json {
  const inside = typeof value === 'object' && value !== null && Object.keys(value).length > 0;
  if (!inside || dice.chance(0.1)) return oddJson(dice, words);
  const key = dice.pick(Object.keys(value));
  if (Array.isArray(value)) {
    const at = Number(key);
    const others = dice.pick<() => Json[]>([
      () => [changed(dice, value[at]!, words)],
      () => [changed(dice, value[at]!, words)],
      () => [],
      () => Array.from({ length: 2 + dice.length(20) }, () => value[at]!),
    ])();
    return value.toSpliced(at, 1, ...others);
  }
  const { [key]: own, ...rest } = value;
  return dice.pick<() => Json>([
    () => ({ ...value, [key]: changed(dice, own!, words) }),
    () => ({ ...value, [key]: changed(dice, own!, words) }),
    () => ({ ...value, [key]: changed(dice, own!, words) }),
    () => rest,
    () => ({ ...rest, [oddText(dice, words)]: own! }),
  ])();
}
