import { expect, test } from 'vitest';
import { abWords } from '../../src/cli/ab-words.js';
import { shellWords } from '../../src/cli/shell-words.js';
import { header, runOf } from '../results/fixtures.js';

const made = (settings: Record<string, string>, library: string) =>
  runOf([], { settings, fabric: { ...header.fabric, library } });

test('the command for pasting is read back as the options and variables of each side', () => {
  const a = made({ provider: 'tcp;ofi_rxm' }, "/opt/it's new/libfabric.so.1");
  const b = made({ provider: 'shm' }, '/opt/old/libfabric.so.1');
  const words = shellWords(abWords(a, b)!);
  const sideOf = (flag: string) => shellWords(words[words.indexOf(flag) + 1]!);
  expect(sideOf('--a')).toEqual([
    "WEFT_LIBFABRIC=/opt/it's new/libfabric.so.1",
    '--provider',
    'tcp;ofi_rxm',
  ]);
  expect(sideOf('--b')).toEqual(['WEFT_LIBFABRIC=/opt/old/libfabric.so.1', '--provider', 'shm']);
  expect(words.slice(words.indexOf('--'))).toEqual(['--', 'write']);
});

test('where run files show no difference, the user fills it in', () => {
  const run = made({ provider: 'shm' }, 'libfabric');
  expect(abWords(run, run)).toBe(
    "--launch 'weft lab run --' --a '…' --b '…' -- write --provider shm",
  );
});
