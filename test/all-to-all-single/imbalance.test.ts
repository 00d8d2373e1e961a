import { describe, expect, test } from 'vitest';
import {
  checkMatrixWorld,
  parseElements,
  parseImbalance,
  readMatrix,
  zipfMatrix,
} from '../../src/benchmarks/all-to-all-single/imbalance.js';

const sum = (row: readonly number[]) => row.reduce((total, bytes) => total + bytes, 0);

describe("Zipf's law", () => {
  test('every rank sends as much as in the uniform exchange, in whole elements', () => {
    for (const world of [2, 3, 5, 8]) {
      for (const row of zipfMatrix(world, 1000, 1.2, 'int64')) {
        expect(sum(row)).toBe(world * 1000);
        expect(row.every((bytes) => bytes % 8 === 0)).toBe(true);
      }
    }
  });

  test('all ranks favour the first, and the second half as much with exponent 1', () => {
    const [row] = zipfMatrix(4, 4 * 2 ** 20, 1, 'float32');
    expect(row![0]! / row![1]!).toBeCloseTo(2, 4);
    expect(row![0]! / row![3]!).toBeCloseTo(4, 4);
  });

  test('exponent 0 is even', () => {
    expect(zipfMatrix(2, 8, 0, 'float32')).toEqual([
      [8, 8],
      [8, 8],
    ]);
  });

  test.each(['zipf', 'zipf:', 'zipf:x', 'zipf:-1', 'pareto:2', ''])('%o is refused', (text) => {
    expect(() => parseImbalance(text)).toThrow(expect.objectContaining({ code: 'BAD_USAGE' }));
  });
});

describe('a matrix', () => {
  const parse = (text: string) => parseElements(text, 'm.csv', 'float32');

  test('is read with sizes, blanks, remarks and empty lines', () => {
    expect(parse('# to 0, to 1\r\n0, 4K\n\n 8 ,0\n')).toEqual([
      [0, 4096],
      [8, 0],
    ]);
  });

  test.each([
    ['0,4\n4', /not square: 2 rows, but row 2 has 1 columns/],
    ['0,4,4\n4,0,4', /not square/],
    ['0,-4\n4,0', /line 1: -4 is negative/],
    ['0,4\nx,0', /line 2: "x" is not a number of bytes/],
    ['0,\n4,0', /line 1: "" is not a number of bytes/],
    ['0,4.3\n4,0', /not a whole number of bytes/],
    ['0,5\n4,0', /line 1: 5 is not a multiple of 4 bytes/],
    ['0,0\n0,0', /every entry is 0/],
    ['# nothing\n', /empty/],
  ])('%o is refused', (text, message) => {
    expect(() => parse(text)).toThrow(message);
  });

  test('that cannot be read is named', () => {
    expect(() => readMatrix('/nowhere/m.csv', 'float32')).toThrow(
      /cannot read the matrix \/nowhere\/m\.csv/,
    );
  });

  test('is for as many ranks as it has rows', () => {
    const matrix = parse('0,4\n4,0');
    expect(() => checkMatrixWorld(matrix, 'm.csv', 2)).not.toThrow();
    expect(() => checkMatrixWorld(matrix, 'm.csv', 3)).toThrow(/for 2 ranks, but this run has 3/);
  });
});
