import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { page, text } from '../../scripts/write-options-page.mjs';

/** Formatting pads tables. */
const unpadded = (markdown: string) => markdown.replace(/ +/g, ' ').replace(/-{3,}/g, '---');

test('docs/options.md says what the tables say (npm run docs:options writes it)', () => {
  expect(unpadded(readFileSync(page, 'utf8'))).toBe(unpadded(text));
});
