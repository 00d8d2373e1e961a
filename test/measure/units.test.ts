import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  formatBytes,
  formatBytesRounded,
  formatDuration,
  formatNanoseconds,
  gbpsOf,
  gigabytesPerSecond,
  nanosecondsAt,
  parseBytes,
  parseDuration,
} from '../../src/measure/units.js';

describe('a size', () => {
  test.each([
    ['0', 0],
    ['4096', 4096],
    ['128K', 131_072],
    ['4M', 4_194_304],
    ['1.5G', 1_610_612_736],
    ['2T', 2 ** 41],
    ['8k', 8192],
    ['8KiB', 8192],
    ['8kb', 8192],
    ['512B', 512],
    [' 1G ', 2 ** 30],
  ])('"%s" is %i bytes', (text, bytes) => expect(parseBytes(text)).toBe(bytes));

  test.each(['', 'K', '-1', '4X', '1e3', '4 M', '0x10', '1,5G', 'NaN', '4MM'])(
    '"%s" is refused',
    (text) => {
      expect(() => parseBytes(text)).toThrow(expect.objectContaining({ code: 'BAD_USAGE' }));
    },
  );

  test('of half a byte is refused with its neighbours', () => {
    expect(() => parseBytes('1.0005K')).toThrow(
      expect.objectContaining({ hint: 'The nearest sizes are 1024 and 1025 bytes.' }),
    );
  });

  test('beyond what can be counted is refused', () => {
    expect(() => parseBytes('9000T')).toThrow('is too large');
  });

  test('names the option it belongs to', () => {
    expect(() => parseBytes('many', '--chunk')).toThrow('--chunk: "many" is not a size');
  });

  test.each([
    [0, '0'],
    [1000, '1000'],
    [1024, '1K'],
    [1536, '1.5K'],
    [131_072, '128K'],
    [2 ** 22, '4M'],
    [2 ** 30, '1G'],
    [2 ** 20 + 1, '1048577'],
  ])('%i is written %s', (bytes, text) => expect(formatBytes(bytes)).toBe(text));

  test('is read back as it was written', () => {
    const quarters = fc.tuple(
      fc.nat({ max: 4096 }),
      fc.constantFrom(2 ** 8, 2 ** 18, 2 ** 28, 2 ** 38),
    );
    const size = fc.oneof(
      fc.maxSafeNat(),
      quarters.map(([count, unit]) => count * unit),
    );
    fc.assert(
      fc.property(size, (bytes) => {
        expect(parseBytes(formatBytes(bytes))).toBe(bytes);
      }),
    );
  });

  test.each([
    [1023, '1023'],
    [1500, '1.5K'],
    [2 ** 30 - 1, '1G'],
    [37.24 * 2 ** 20, '37.2M'],
  ])('%d is rounded to %s', (bytes, text) => expect(formatBytesRounded(bytes)).toBe(text));
});

describe('a rate', () => {
  test('of the reference table comes out of its size and time', () => {
    expect(gbpsOf(4_194_304, 2_677_270)).toBeCloseTo(12.53, 2);
  });

  test('in gigabytes is an eighth', () => expect(gigabytesPerSecond(1000, 10)).toBe(100));

  test('and a size give the time', () => expect(nanosecondsAt(1_000_000, 100)).toBe(80_000));
});

describe('a duration', () => {
  test.each([
    [0, '0 ns'],
    [999, '999 ns'],
    [999.6, '999.6 ns'],
    [999.96, '1 us'],
    [66_540, '66.54 us'],
    [999_996, '1 ms'],
    [2_677_270, '2.677 ms'],
    [1_200_000_000, '1.2 s'],
    [12_345e9, '12345 s'],
  ])('of %d ns is written %s', (ns, text) => expect(formatNanoseconds(ns)).toBe(text));
});

test.each([
  ['8h', 28_800_000],
  ['2w', 1_209_600_000],
  ['1h30m', 5_400_000],
  ['200ms', 200],
  ['1.5s', 1500],
  [' 2d ', 172_800_000],
])('a time span of %s', (text, milliseconds) => {
  expect(parseDuration(text)).toBe(milliseconds);
  expect(parseDuration(formatDuration(milliseconds))).toBe(milliseconds);
});

test.each(['', '5', 'h', '1h 30m', '-5s', '1e3s', '3x', '5 s', '1h-2m'])(
  '%j is not a time span',
  (text) => {
    expect(() => parseDuration(text)).toThrow(/is not a time span/);
  },
);
