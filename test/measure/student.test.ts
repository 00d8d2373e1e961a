import { expect, test } from 'vitest';
import { studentPoint, studentTails } from '../../src/measure/student.js';

test.each([
  { tails: 0.05, degrees: 1, point: 12.706 },
  { tails: 0.05, degrees: 8, point: 2.306 },
  { tails: 0.01, degrees: 4, point: 4.604 },
  { tails: 0.001, degrees: 2, point: 31.599 },
  { tails: 0.001, degrees: 30, point: 3.646 },
])('$tails beyond ±$point at $degrees degrees of freedom, as tables have it', (row) => {
  expect(studentPoint(row.tails, row.degrees)).toBeCloseTo(row.point, 2);
  expect(studentTails(row.point, row.degrees)).toBeCloseTo(row.tails, 5);
});
