import { expect, test } from 'vitest';
import { kv } from '../../src/benchmarks/kv.js';
import { columnsOf } from '../../src/runner/columns.js';
import { readMisfit } from '../../src/runner/fitting.js';
import { jobOf, type PlanJob } from '../../src/runner/job.js';
import { needsOf } from '../../src/runner/memory-plan.js';

const job = jobOf(kv, {}) as PlanJob;
const hosts = ['a', 'b'];

/** Why each column of kv cannot run, by column; those that can are left out. */
const misfits = (how: { canRead: boolean; staged: boolean }) =>
  Object.fromEntries(
    columnsOf(kv, undefined).flatMap((column) => {
      const needs = needsOf(job, [column], hosts, 4096);
      const reason = readMisfit({ provider: 'efa', ...how }, column, needs);
      return reason === undefined ? [] : [[column.name, reason]];
    }),
  );

test('where a provider cannot read, pulls are skipped and pushes are not', () => {
  const reason = 'efa does not support remote reads';
  expect(misfits({ canRead: false, staged: false })).toEqual({
    PullMultiPin: reason,
    PullRoundRobinPin: reason,
    PullMultiDMA: reason,
    PullRoundRobinDMA: reason,
  });
});

test('where GPU memory is staged, only pulls from it are skipped', () => {
  const reason = 'peers cannot read GPU memory that is staged through the host';
  expect(misfits({ canRead: true, staged: true })).toEqual({
    PullMultiDMA: reason,
    PullRoundRobinDMA: reason,
  });
});

test('where nothing is in the way, no column is skipped', () => {
  expect(misfits({ canRead: true, staged: false })).toEqual({});
});
