import { expect, test } from 'vitest';
import { withPlaces } from '../../src/engine/places.js';
import { WeftError } from '../../src/errors.js';

const places = { hosts: ['h0', 'h1', 'h1'], nics: ['nic0', 'nic1'] };
const named = (message: string, code: 'TIMEOUT' | 'ABORTED' = 'TIMEOUT') =>
  (withPlaces(new WeftError(code, message, { hint: 'wait' }), places) as WeftError).message;

test('a transfer that does not end is named by host and NIC', () => {
  expect(named('rank 1 did not receive the data sent on channel 1')).toBe(
    'rank 1 on host h1 did not receive the data sent on channel 1 (nic1)',
  );
  expect(withPlaces(new WeftError('TIMEOUT', 'x', { hint: 'wait' }), places)).toMatchObject({
    ...{ code: 'TIMEOUT', hint: 'wait' },
  });
});

test('what has a name keeps it, and what has none gets none', () => {
  const known = 'rank 2 on host h9 did not reach the barrier over channel 0 (rdmap0)';
  expect(named(known)).toBe(known);
  expect(named('rank 7 sent nothing on channel 7')).toBe('rank 7 sent nothing on channel 7');
  expect(named('rank 1 failed', 'ABORTED')).toBe('rank 1 failed');
});

test('on one host its name says nothing', () => {
  const error = new WeftError('FABRIC_FAULT', 'transfer with rank 1 on channel 0: reset');
  expect(withPlaces(error, { hosts: ['a', 'a'], nics: ['lo'] })).toMatchObject({
    message: 'transfer with rank 1 on channel 0 (lo): reset',
  });
});
