import { expect, test } from 'vitest';
import { compareRuns } from '../../src/analysis/compare/compare.js';
import { notesOf } from '../../src/analysis/compare/notes.js';
import { noiseFrom } from '../../src/cli/earlier-runs.js';
import { runOf, sampleRow } from '../results/fixtures.js';

test('a folder that cannot be listed is named in the notes, and the comparison goes on', async () => {
  const run = runOf([sampleRow({ column: 'SinglePin', bytes: 64, us: 6 })]);
  const file = import.meta.filename;
  const comparison = compareRuns([run], [run], await noiseFrom({ history: file }, 'a', run));
  expect(comparison.noise).toMatchObject({
    from: 'unknown',
    unread: expect.stringContaining(file),
  });
  expect(notesOf(comparison)[0]).toContain(`noise: unknown; cannot read earlier runs in ${file}: `);
});
