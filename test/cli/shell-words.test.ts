import { expect, test } from 'vitest';
import { shellQuoted, shellWords } from '../../src/cli/shell-words.js';

test.each([
  ['', []],
  ['  ', []],
  ['--chunk 1M', ['--chunk', '1M']],
  [`A='x y' "b c"d`, ['A=x y', 'b cd']],
  [`'' x\\ y`, ['', 'x y']],
  [`"a \\"b\\" \\n"`, ['a "b" \\n']],
])('%s', (text, words) => {
  expect(shellWords(text)).toEqual(words);
});

test('an open quote is refused', () => {
  expect(() => shellWords(`--columns 'Single`)).toThrow('unclosed quote');
});

test('quoted words are read back', () => {
  const words = ['plain', '', "it's", 'a b', 'tcp;ofi_rxm'];
  expect(shellWords(words.map(shellQuoted).join(' '))).toEqual(words);
});
