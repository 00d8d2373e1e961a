import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { faultNames } from '../../../src/lab/efa/parse.js';

const device = (file: string) =>
  readFileSync(new URL(`../../../devices/efa/${file}`, import.meta.url), 'utf8');
const found = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map(([, name]) => name);

test('the device, its page and the command line know the same faults', () => {
  expect(found(device('faults.cc'), /number\(values, "(\w+)"\)/g)).toEqual(faultNames);
  const table = device('README.md').split('| fault ')[1]!.split('\n\n')[0]!;
  expect(found(table, /^\| `(\w+)=/gm)).toEqual(faultNames);
});
