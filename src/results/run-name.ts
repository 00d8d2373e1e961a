import { randomBytes } from 'node:crypto';

/** Sorts by time: `20261115T045426123Z-all2all-3f9a2c`. */
export function newRunId(benchmark: string, startedAt: Date): string {
  const stamp = startedAt.toISOString().replace(/[-:.]/g, '');
  const name = benchmark.replace(/[^A-Za-z0-9]+/g, '-').replace(/^-+|-+$/g, '') || 'run';
  return `${stamp}-${name}-${randomBytes(3).toString('hex')}`;
}
