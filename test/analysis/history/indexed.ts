import { EntryMaker, type IndexedRun, SharedParts } from '../../../src/results/index-entry.js';
import { glanceAt } from '../../../src/results/run-glance.js';
import type { Row, RunHeader } from '../../../src/results/schema.js';
import { header } from '../../results/fixtures.js';

interface Made {
  readonly day: number;
  readonly rows: readonly Row[];
  readonly changes?: Partial<RunHeader> & Readonly<Record<string, unknown>>;
}

/** Runs as an index has them, one a day from the first of January. */
export function indexedRuns(made: readonly Made[]): IndexedRun[] {
  const parts = new SharedParts();
  return made.map(({ day, rows, changes }) => {
    const startedAt = new Date(Date.UTC(2026, 0, 1) + day * 86_400_000).toISOString();
    const id = `run-${String(day).padStart(4, '0')}`;
    const maker = new EntryMaker();
    const lines = [
      { line: 'header', ...header, id, startedAt, ...changes },
      ...rows.map((row) => ({ line: 'row', ...row })),
      { line: 'footer', endedAt: startedAt, outcome: 'passed', errors: [] },
    ];
    for (const line of lines) maker.take(glanceAt(Buffer.from(JSON.stringify(line))));
    return maker.finish({ file: `${id}.jsonl`, bytes: 1, modifiedMs: 1 }, parts)!;
  });
}
