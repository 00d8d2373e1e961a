import type { Row, Run } from '../../src/results/schema.js';
import type { SoakInterval } from '../../src/results/soak.js';
import { runOf, sampleRow } from './fixtures.js';

const start = Date.parse('2026-01-02T03:00:00.000Z');
const at = (seconds: number) => new Date(start + seconds * 1000).toISOString();

/** Interval `i` of a minute each, with a median of `us`. */
export function interval(i: number, us: number, soak: Partial<SoakInterval> = {}): Row {
  const row = sampleRow({ column: 'MultiPin', bytes: 2 ** 20, us });
  const own = { startedAt: at(60 * i), endedAt: at(60 * i + 60), p999: us * 1100 };
  return { ...row, repeat: i, soak: { ...own, stalls: [], stallCount: 0, links: [], ...soak } };
}

const flap = (seconds: number) => ({
  links: [{ at: at(seconds), host: 'h2', ranks: [2], nic: 'nic0', milliseconds: 2000 }],
  stallCount: 1,
  stalls: [
    {
      at: at(seconds),
      milliseconds: 2300,
      during: 'iteration' as const,
      waiting: [{ rank: 0, for: [2] }],
      suspects: [{ host: 'h2', ranks: [2], nic: 'nic0', why: 'link-down' as const }],
      proven: true,
    },
  ],
});

export const minutes = (count: number) => Array.from({ length: count }, (_, i) => i);

/** Six minutes in which the link of nic0 on h2 goes down for 2 s every 90 s. */
export function flappingRun(): Run {
  const rows = minutes(6).map((i) => interval(i, 100));
  for (const seconds of [90, 180, 270]) {
    const i = Math.floor(seconds / 60);
    rows[i] = interval(i, 100, flap(seconds));
  }
  return runOf(rows);
}
