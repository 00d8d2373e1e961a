import { expect, test } from 'vitest';
import { soakOptions, stallAfterMs } from '../../src/settings/soak.js';

const { forMs, everyMs, stall } = soakOptions;

test.each([
  [forMs, '8h', 28_800_000],
  [everyMs, '1m30s', 90_000],
  [stall, '250ms', { milliseconds: 250 }],
  [stall, '2.5X', { factor: 2.5 }],
])('%#: reads %s', (option, text, value) => {
  expect(option.kind.parse(text)).toEqual(value);
});

test.each([
  [forMs, '0', /is not a time span/],
  [forMs, '0s', /more than 0/],
  [forMs, '9999d', /at most 365d/],
  [everyMs, '-3s', /is not a time span/],
  [everyMs, '1ms', /10ms or more/],
  [stall, '1x', /more than 1x/],
  [stall, 'soon', /is not a time span/],
])('%#: refuses %s', (option, text, message) => {
  expect(() => option.kind.parse(text)).toThrow(message);
});

test('what is a stall depends on what is usual, unless the user says', () => {
  expect(stallAfterMs(1, undefined)).toBe(100);
  expect(stallAfterMs(1300, undefined)).toBe(650);
  expect(stallAfterMs(1300, { milliseconds: 50 })).toBe(50);
  expect(stallAfterMs(1300, { factor: 3 })).toBe(2600);
});
