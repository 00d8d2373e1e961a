import { expect, test } from 'vitest';
import { describeFailure } from '../../src/cli/output/failure.js';
import { withFlags } from '../../src/cli/output/flags.js';
import { WeftError } from '../../src/errors.js';

test('a setting in backticks becomes its flag', () => {
  expect(withFlags('Leave `nics` out, or set `provider` to tcp.')).toBe(
    'Leave --nics out, or set --provider to tcp.',
  );
});

test('other words in backticks stay', () => {
  const text = 'Run `weft info` or `lstopo`.';
  expect(withFlags(text)).toBe(text);
});

test('a failure names flags in its message and its hint', () => {
  const error = new WeftError('BAD_USAGE', '`gpus`: there is no GPU 9', {
    hint: 'Raise `timeoutMs`.',
  });
  expect(describeFailure(error, false)).toBe('weft: --gpu: there is no GPU 9\nRaise --timeout.');
});
