import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { load } from './load.js';

const { hashOf, readStamp, removeStamp, sameInputs, writeStamp } = await load('stamp');
let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'weft-stamp-'));
  mkdirSync(join(root, 'src/deep'), { recursive: true });
  writeFileSync(join(root, 'src/deep/a.ts'), 'a');
});
afterEach(() => rmSync(root, { recursive: true }));

describe('a hash of inputs', () => {
  const changes: [string, () => void][] = [
    ['content', () => writeFileSync(join(root, 'src/deep/a.ts'), 'b')],
    ['name', () => renameSync(join(root, 'src/deep/a.ts'), join(root, 'src/deep/b.ts'))],
    ['new file', () => writeFileSync(join(root, 'src/c.ts'), '')],
  ];
  test.each(changes)('changes with a %s', (_what, change) => {
    const before = hashOf(root, ['src']);
    change();
    expect(hashOf(root, ['src'])).not.toBe(before);
  });

  test('does not mind what is absent', () => {
    expect(hashOf(root, ['src', 'nowhere'])).toBe(hashOf(root, ['src']));
  });
});

test('a stamp is what was written, until it is removed', () => {
  expect(readStamp(root, 'native')).toBeUndefined();
  writeStamp(root, 'native', { abi: '115', sources: 'x' });
  expect(sameInputs(readStamp(root, 'native'), { abi: '115', sources: 'x' })).toBe(true);
  expect(sameInputs(readStamp(root, 'native'), { abi: '127', sources: 'x' })).toBe(false);
  removeStamp(root, 'native');
  expect(readStamp(root, 'native')).toBeUndefined();
});
