import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { expect, test } from 'vitest';

test.each(['report/charts', 'report/answer', 'report/hydrate', 'results/repeats'])(
  'browsers can load src/%s.ts: it needs no package and nothing of Node',
  (name) => {
    const files = new Set([resolve(import.meta.dirname, `../../src/${name}.ts`)]);
    for (const file of files) {
      const text = readFileSync(file, 'utf8');
      for (const [, path = ''] of text.matchAll(
        /^(?:import|export)(?! type)[^;]*? from '([^']+)';/gms,
      )) {
        expect(path, file).toMatch(/^\./);
        files.add(resolve(dirname(file), path.replace(/\.js$/, '.ts')));
      }
    }
    expect(files.size).toBeGreaterThan(0);
  },
);
