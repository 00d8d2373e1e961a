import { describe, expect, test } from 'vitest';
import { ring } from '../../src/benchmarks/ring.js';
import { transfersTraffic } from '../../src/plan/patterns/transfers.js';
import { single } from '../../src/plan/strategies.js';
import { writePlan } from '../../src/plan/write-plan.js';
import { pinned } from '../../src/runner/columns.js';
import { jobOf, type PlanJob } from '../../src/runner/job.js';
import { judged } from '../../src/runner/row.js';

const burstBytes = 20_000;
const hosts = ['a', 'b', 'c', 'd'];

/** A row of transfers of this size between neighbours, `times` its bound, at a byte per nanosecond. */
function rowOf(bytes: number, each: number, times: number) {
  const transfers = Array.from({ length: each * hosts.length }, (_, i) => ({
    from: i % hosts.length,
    to: (i + 1) % hosts.length,
    bytes,
  }));
  const traffic = transfersTraffic('ring', hosts.length, transfers);
  const all = transfers.length * bytes;
  const subject = {
    job: jobOf(ring, {}) as PlanJob,
    column: { name: 'SinglePin', strategy: single, memory: pinned },
    bytes: all,
    links: [{ nic: 'nic0', lineRateGbps: 8 }],
    wiring: { hosts },
    hosts,
    burstBytes,
    memory: 'pinned' as const,
    stagedBecause: undefined,
    turns: [
      {
        traffic,
        plan: (how: Parameters<typeof writePlan>[1]) => writePlan(traffic, how),
        figureBytes: { figure: all, line: all },
      },
    ],
  };
  return judged(subject, times * each * bytes, []);
}

describe('a row behind a shaper', () => {
  test('is a burst where no NIC carries 16 of them, whatever all ranks carry together', () => {
    expect(rowOf(15 * burstBytes, 1, 0.5)).toMatchObject({ labels: { burst: true } });
    expect(rowOf(15 * burstBytes, 1, 0.5).failure).toBeUndefined();
    expect(rowOf(17 * burstBytes, 1, 1).labels.burst).toBeUndefined();
  });

  test('is none where a NIC carries many small blocks', () => {
    expect(rowOf(burstBytes, 20, 1).labels.burst).toBeUndefined();
  });

  test('is too fast only beyond what a burst explains', () => {
    expect(rowOf(20 * burstBytes, 1, 0.95).failure).toBeUndefined();
    expect(rowOf(20 * burstBytes, 1, 0.9).failure).toMatch(/^faster than the line rate/);
    expect(rowOf(2000 * burstBytes, 1, 0.95).failure).toMatch(/^faster than the line rate/);
  });
});
