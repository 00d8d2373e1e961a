import type { Dice } from '../dice.js';

/** A value by its name, made when it is needed: handles must not outlive their input. */
export interface Value {
  readonly name: string;
  make(kept: ReadonlyMap<string, unknown>): unknown;
}

/** What an object that throws when it is looked at throws. */
export class Thrown extends Error {}

const always = (name: string, value: unknown): Value => ({ name, make: () => value });
const fresh = (name: string, make: () => unknown): Value => ({ name, make });

const small = [0, 1, 2, 3, 7, 8, 63, 64, 65, 255, 256, 1023, 4096, 4097, 65_535, 65_536];
const wrong = [-1, -0, 0.5, 1e-9, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
const huge = [2 ** 47, 2 ** 52, 2 ** 53 - 1, 2 ** 53, 2 ** 63, 2 ** 64, 1e300, -(2 ** 53)];
/** Would be granted as the size of a buffer, and fill this machine. */
const middle = [2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 1];

const numbers = (list: readonly number[]) => list.map((one) => always(String(one), one));

const views = [
  ...[Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array],
  ...[Float32Array, Float64Array, BigInt64Array, BigUint64Array],
] as const;
const lengths = [0, 1, 3, 13, 16, 64, 100];

const others: readonly Value[] = [
  always('undefined', undefined),
  always('null', null),
  always('true', true),
  always('0n', 0n),
  always('-1n', -1n),
  always('2n ** 64n', 2n ** 64n),
  always('""', ''),
  always('"text"', 'text'),
  always('long text', 'x'.repeat(100_000)),
  always('text with 0', 'a\0b'),
  always('symbol', Symbol('s')),
  always('function', () => 1),
  fresh('{}', () => ({})),
  fresh('[]', () => []),
  fresh('[undefined]', () => [undefined]),
  fresh('[1, 2, 3]', () => [1, 2, 3]),
  fresh('[0n, 1n]', () => [0n, 1n]),
  fresh('[[0]]', () => [[0]]),
  fresh('sparse array of 2^32 - 1', () => new Array(2 ** 32 - 1)),
  fresh('null prototype', () => Object.create(null)),
  fresh('array-like', () => ({ length: 2 ** 32, 0: 1 })),
  fresh('getters that throw', () => throwing()),
  fresh('Date', () => new Date(0)),
  fresh('Promise', () => Promise.resolve(1)),
  fresh('ArrayBuffer', () => new ArrayBuffer(64)),
  fresh('DataView', () => new DataView(new ArrayBuffer(64))),
  fresh('shared Float64Array', () => new Float64Array(new SharedArrayBuffer(128))),
  fresh('detached Float64Array', () => detached()),
  { name: 'Memory of this input', make: (kept) => kept.get('Memory') },
  { name: 'Port of this input', make: (kept) => kept.get('Port') },
  { name: 'TransferBoard of this input', make: (kept) => kept.get('TransferBoard') },
  ...views.flatMap((View) =>
    lengths.map((length) => fresh(`${View.name}(${length})`, () => new View(length))),
  ),
  fresh('Float64Array of odd numbers', () => Float64Array.from([...small, ...wrong, ...huge])),
];

const throwing = () =>
  new Proxy(
    {},
    {
      get: () => {
        throw new Thrown('looked at');
      },
    },
  );

function detached(): Float64Array {
  const array = new Float64Array(16);
  structuredClone(array.buffer, { transfer: [array.buffer] });
  return array;
}

const smallNumbers = numbers(small);
const wrongNumbers = numbers([...wrong, ...huge]);
const middleNumbers = numbers(middle);

/** A value for an argument of this method; what makes buffers gets no size that would be granted. */
export function wrongValue(dice: Dice, method: string): Value {
  const sizes = /^[A-Z]/.test(method) ? [] : [middleNumbers];
  return dice.pick(dice.pick([others, smallNumbers, wrongNumbers, ...sizes]));
}
