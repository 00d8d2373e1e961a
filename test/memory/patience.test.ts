import { expect, test } from 'vitest';
import { patientMs } from '../../src/memory/patience.js';

test('a rank with much memory to go through is given a second more for each 256 MiB', () => {
  expect(patientMs(5000, 0)).toBe(5000);
  expect(patientMs(5000, 2 ** 28)).toBe(6000);
  expect(patientMs(5000, 2 ** 30)).toBe(9000);
});
