import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { page, text } from '../../scripts/write-options-page.mjs';

test('docs/options.md says what the tables say (npm run docs:options writes it)', () => {
  expect(readFileSync(page, 'utf8')).toBe(text);
});
