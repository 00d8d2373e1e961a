import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RunFile } from '../../src/results/run-file.js';
import { indexName, type RunIndex } from '../../src/results/run-index.js';
import type { Row, RunHeader } from '../../src/results/schema.js';
import { header, sampleRow } from './fixtures.js';

export const row = (us: number, changes: Partial<Row> = {}): Row => ({
  ...sampleRow({ column: 'SinglePin', bytes: 4096, us }),
  ...changes,
});

/** Writes run files into a folder. */
export const putterOf =
  (folder: () => string) =>
  (id: string, rows: readonly Row[], changes: Partial<RunHeader> = {}): string => {
    const file = new RunFile({ ...header, id, ...changes }, { folder: folder() });
    for (const each of rows) file.append(each);
    file.finish({ endedAt: '2026-01-02T03:05:00.000Z', outcome: 'passed', errors: [] });
    return file.path;
  };

export const day = (number: number): Partial<RunHeader> => ({
  startedAt: `2026-01-0${number}T00:00:00.000Z`,
});
export const storedIn = (folder: string): string => readFileSync(join(folder, indexName), 'utf8');
export const ids = (index: RunIndex): string[] => index.runs.map(({ id }) => id);
