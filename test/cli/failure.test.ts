import { expect, test } from 'vitest';
import { describeFailure } from '../../src/cli/output/failure.js';
import { WeftError } from '../../src/errors.js';

const system = (code: string) => Object.assign(new Error(`${code}: open 'x'`), { code });
const wrapped = (cause: unknown) =>
  new WeftError('BAD_FILE', 'x cannot be read', { hint: 'Name a run file.', cause });

test('too few files to open are the advice, however deep the cause lies', () => {
  for (const error of [
    system('EMFILE'),
    wrapped(system('EMFILE')),
    wrapped(wrapped(system('EMFILE'))),
  ]) {
    expect(describeFailure(error, false)).toMatch(/\n.*ulimit -n 65536/);
  }
});

test('too many files of the whole host are no limit of this process', () => {
  expect(describeFailure(wrapped(system('ENFILE')), false)).toMatch(/\n.*fs\.file-max/);
});

test('other causes leave the advice of the error', () => {
  expect(describeFailure(wrapped(system('EACCES')), false)).toBe(
    'weft: x cannot be read\nName a run file.',
  );
});
