import { RunFile } from '../../src/results/run-file.js';
import { header, sampleRow } from '../results/fixtures.js';

/** A finished run for `report` and `serve` to show. */
export function plantRun(path: string): void {
  const file = new RunFile(header, { path });
  for (const bytes of [4096, 8192]) file.append(sampleRow({ column: 'SinglePin', bytes, us: 9 }));
  file.finish({ endedAt: '2026-01-02T03:05:00.000Z', outcome: 'passed', errors: [] });
}
