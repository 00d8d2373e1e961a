import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

// Comparisons run for minutes and on request only: what they import must not be missed then.
const folder = resolve(import.meta.dirname, '../../comparisons');
const programs = readdirSync(folder).filter((name) => name.endsWith('.mjs'));

test.each(programs)('%s imports what there is', async (name) => {
  const text = readFileSync(join(folder, name), 'utf8');
  for (const [, list = '', from = ''] of text.matchAll(
    /^import \{([^}]*)\} from '(\.\.[^']+)'/gm,
  )) {
    const there = await import(resolve(folder, from));
    for (const word of list
      .split(',')
      .map((one) => one.trim())
      .filter(Boolean)) {
      expect(there, `${word} of ${from}`).toHaveProperty(word.split(' as ')[0]!);
    }
  }
});
