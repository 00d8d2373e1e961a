import { expect, test } from 'vitest';
import { marksOf } from '../../src/engine/marks.js';

test('a mark of several steps is the last of them, in every iteration, and marks may share steps', () => {
  const found: number[][] = [];
  const { steps, heard } = marksOf([[4], [4, 7], [7, 2]], (times) => found.push([...times]));
  expect(steps).toEqual([4, 7, 2]);
  heard(Float64Array.of(10, 30, 20, 160, 130, 150));
  expect(found).toEqual([[10, 30, 30, 160, 160, 150]]);
});
