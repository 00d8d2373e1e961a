import { describe, expect, test } from 'vitest';
import { periodOf } from '../../../src/analysis/soak/period.js';
import { soakVerdict } from '../../../src/analysis/soak/verdict.js';
import { soakHeadline, soakTroubles } from '../../../src/analysis/soak/words.js';
import { formatSoak } from '../../../src/results/formats/soak.js';
import { mergeRepeats } from '../../../src/results/repeats.js';
import { skippedRow } from '../../../src/results/rows.js';
import { countedPath } from '../../../src/runner/soak/soak-row.js';
import { runOf } from '../../results/fixtures.js';
import { flappingRun, interval, minutes } from '../../results/soak-fixtures.js';

test('a steady soak', () => {
  const verdict = soakVerdict(runOf(minutes(12).map((i) => interval(i, 100))));
  expect(verdict).toMatchObject({ verdict: 'steady', intervals: 12, stalls: { count: 0 } });
  expect(verdict.rows[0]!.drift).toMatchObject({ slower: false });
  expect(soakHeadline(verdict)).toBe(
    'write was steady over 12 intervals: no stall, no link failure.',
  );
});

test('a soak that measured nothing is not steady, and says why', () => {
  const reason = 'the NIC is too small';
  const run = runOf([skippedRow({ column: 'MultiPin', bytes: 1024, reason })]);
  const verdict = soakVerdict({ ...run, outcome: 'skipped' });
  expect(verdict).toMatchObject({ verdict: 'nothing', reason, intervals: 0 });
  expect(soakHeadline(verdict)).toBe(`write measured nothing: ${reason}.`);
  expect(soakHeadline(soakVerdict(runOf([])))).toMatch(/measured nothing: it ended before/);
  expect(soakVerdict({ ...run, outcome: 'aborted' }).verdict).toBe('failed');
});

test('a link that flaps every 90 seconds is named, counted and timed', () => {
  const run = flappingRun();
  const verdict = soakVerdict(run);
  expect(verdict).toMatchObject({
    verdict: 'stalls',
    stalls: { count: 3 },
    links: [{ host: 'h2', nic: 'nic0', downs: 3, longestMs: 2000, everyMs: 90_000 }],
    causes: [{ count: 3, proven: true, everyMs: 90_000 }],
  });
  const [link, cause] = soakTroubles(verdict);
  expect(link).toMatch(
    /^the link of nic0 on h2 \(rank 2\) went down 3 times for up to 2.0 s, about every 1m30s \(at/,
  );
  expect(cause).toMatch(/^3 stalls of up to 2.3 s, about every 1m30s: the link of nic0 on h2/);
  const text = formatSoak(run, verdict, { width: 100 });
  expect(text).toMatch(/MultiPin 1M {2}first, worst \(1\)/);
  expect(text.split('\n').every((line) => line.length <= 100)).toBe(true);
});

test('where rows keep only their longest stalls, the causes say so', () => {
  const rows = flappingRun().rows.map((row) => ({ ...row, soak: { ...row.soak!, stallCount: 5 } }));
  const verdict = soakVerdict(runOf(rows));
  expect(verdict.stalls).toMatchObject({ count: 30, kept: 3 });
  const troubles = soakTroubles(verdict);
  expect(troubles[1]).toBe('causes are known for the longest 3 of 30 stalls');
  expect(soakTroubles(soakVerdict(flappingRun())).join()).not.toContain('longest');
});

test('the counters of all NICs are summed, though a row of a large world lists few', () => {
  const nics = minutes(100).map((i) => ({
    ...{ host: `h${i}`, ranks: [i], nic: 'nic0', txBytes: 1000, rxBytes: 10, expectedTxBytes: 0 },
    ...(i === 7 && { drops: 3 }),
  }));
  const { path, counters } = countedPath({ nics, asPlanned: true });
  expect(path.nics).toMatchObject([{ host: 'h7', drops: 3 }]);
  const rows = minutes(2).map((i) => ({ ...interval(i, 100, { counters }), path }));
  const verdict = soakVerdict(runOf(rows));
  expect(verdict.counters).toEqual({
    ...{ nics: 100, txBytes: 200_000, rxBytes: 2000 },
    ...{ retransmits: 0, drops: 6 },
  });
  const text = formatSoak(runOf(rows), verdict);
  expect(text).toContain('counters of 100 NICs: 200 kB sent, 0 retransmissions, 6 dropped packets');
  expect(text).toContain('nic0 on h7: 0 retransmissions, 6 dropped packets');
});

test('getting slower from the first quarter to the last is found; noise is not', () => {
  const slow = soakVerdict(runOf(minutes(16).map((i) => interval(i, 100 + 5 * i))));
  expect(slow).toMatchObject({ verdict: 'slower', rows: [{ drift: { slower: true } }] });
  expect(soakHeadline(slow)).toMatch(/^MultiPin became \d+ % slower in 16 intervals\.$/);
  const sizes = minutes(16).map((i) => ({ ...interval(i, 100), bytes: 4096 }));
  const two = soakVerdict(runOf([...minutes(16).map((i) => interval(i, 100 + 5 * i)), ...sizes]));
  expect(soakHeadline(two)).toMatch(/^MultiPin 1M became/);
  const noisy = soakVerdict(runOf(minutes(16).map((i) => interval(i, i % 3 === 0 ? 150 : 100))));
  expect(noisy.verdict).toBe('steady');
});

test('one run of a soak is one row for other readers, and keeps its intervals', () => {
  const merged = mergeRepeats(runOf(minutes(3).map((i) => interval(i, 100 + i))));
  expect(merged.rows).toHaveLength(1);
  expect(merged.rows[0]!.soak).toBeUndefined();
  expect(merged.repeated).toHaveLength(3);
});

describe('what comes regularly', () => {
  test.each([
    [[0, 90, 180, 270], 90],
    [[10, 100.4, 189.8], 90],
    [[0, 90, 270, 360], 90],
    [[0, 0.5, 90, 91, 180], 90],
  ])('%j seconds', (seconds, period) => {
    expect(periodOf(seconds.map((s) => s * 1000))! / 1000).toBeCloseTo(period, -1);
  });

  test.each([[[0, 90]], [[0, 90, 110, 400]], [[0, 3, 7, 9, 14]], [[]]])(
    '%j seconds do not',
    (seconds) => {
      expect(periodOf(seconds.map((s) => s * 1000))).toBeUndefined();
    },
  );
});
