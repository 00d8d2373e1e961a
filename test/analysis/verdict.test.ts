import { describe, expect, test } from 'vitest';
import { compareRuns } from '../../src/analysis/compare/compare.js';
import { judge } from '../../src/analysis/verdict/judge.js';
import { judgeComparison, judgeSoundness } from '../../src/analysis/verdict/judge-runs.js';
import { efficiencyAt, judgeByBound, judgeByMachine } from '../../src/analysis/verdict/machines.js';
import { verdictOf } from '../../src/analysis/verdict/verdict.js';
import { machineByName } from '../../src/reference/machines.js';
import { formatMetrics, formatVerdict } from '../../src/results/formats/verdict.js';
import type { Row } from '../../src/results/schema.js';
import { runOf, sampleRow } from '../results/fixtures.js';
import { M, rowAt } from './row-at.js';

describe('known machines', () => {
  test('are found by either name', () => {
    expect(machineByName('p5')).toBe(machineByName('p5.48xlarge'));
    expect(machineByName('p6-b200')?.nicGbps).toBe(400);
    expect(machineByName('laptop')).toBeUndefined();
  });

  test('shares between two sizes are interpolated, beyond the last they stay, below the first nothing is known', () => {
    const points = [
      [M, 20],
      [4 * M, 40],
    ] as const;
    expect([M / 2, M, 2 * M, 4 * M, 8 * M].map((bytes) => efficiencyAt(points, bytes))).toEqual([
      undefined,
      20,
      expect.closeTo(30, 6),
      40,
      40,
    ]);
  });

  test.each([
    [94, 'pass'],
    [85, 'degraded'],
    [60, 'fail'],
  ] as const)('%d %% of the line at 16 MiB, where p5 reaches 94: %s', (percent, grade) => {
    const items = judgeByMachine(machineByName('p5')!, [runOf([rowAt(percent)])]);
    expect(items.map((item) => item.grade)).toEqual([grade]);
  });

  test('a link that came up too slow is named', () => {
    const items = judgeByMachine(machineByName('p5en')!, [runOf([rowAt(94)])]);
    expect(items[0]).toMatchObject({ grade: 'fail', value: 100, expected: 200 });
    expect(items[0]!.reason).toContain('eth0 100 Gbps');
  });

  test('elsewhere the largest size is held against the bound, bursts are not', () => {
    const row = (percent: number, bytes: number, burst = false): Row => ({
      ...rowAt(90, bytes),
      ofBoundPercent: percent,
      labels: { memory: 'pinned', ...(burst && { burst }) },
    });
    const rows = [row(10, M), row(75, 16 * M), row(300, 32 * M, true)];
    expect(judgeByBound([runOf(rows)])).toMatchObject([{ grade: 'degraded', value: 75 }]);
  });
});

describe('whatever was expected', () => {
  test('a wrong byte fails', () => {
    const wrong: Row = { ...rowAt(95), outcome: 'failed', checked: { bytes: 64, wrong: 3 } };
    expect(judgeSoundness([runOf([wrong])])[0]).toMatchObject({ grade: 'fail', value: 3 });
  });

  test('unchecked bytes degrade, checked ones pass', () => {
    const unchecked: Row = { ...rowAt(95), checked: { bytes: 0, wrong: 0 } };
    expect(judgeSoundness([runOf([unchecked])])[0]!.grade).toBe('degraded');
    expect(judgeSoundness([runOf([rowAt(95)])]).map((item) => item.grade)).toEqual(['pass']);
  });

  test('a run without an end fails with its error', () => {
    const errors = [{ code: 'PEER_LOST', message: 'rank 2 died' }];
    const items = judgeSoundness([runOf([rowAt(95)], { outcome: 'aborted', errors })]);
    expect(items.at(-1)!.reason).toContain('rank 2 died');
  });

  test('a baseline: slower degrades or fails, missing fails', () => {
    const runs = (us: number, first: number) =>
      [0, 1, 2, 3, 4].map((i) =>
        runOf([sampleRow({ column: 'SinglePin', bytes: M, us: us * (1 + i / 1000) })], {
          startedAt: new Date((2 * i + first) * 60_000).toISOString(),
        }),
      );
    const other = sampleRow({ column: 'MultiPin', bytes: M, us: 5 });
    const gradeOf = (us: number) =>
      judgeComparison(compareRuns(runs(100, 0), runs(us, 1)), false).map((item) => item.grade);
    expect([gradeOf(101), gradeOf(115), gradeOf(150)]).toEqual([['pass'], ['degraded'], ['fail']]);
    const missing = judgeComparison(compareRuns([runOf([other])], runs(1, 0)), false);
    expect(missing[0]!.grade).toBe('fail');
  });

  test('a baseline of a single run: what only looks slower passes, unless strict', () => {
    const timed = (us: number) => [runOf([sampleRow({ column: 'SinglePin', bytes: M, us })])];
    const comparison = compareRuns(timed(100), timed(200));
    expect(judgeComparison(comparison, false)).toMatchObject([
      { grade: 'pass', reason: 'Not proven to differ from the baseline. It took 2.00× the time.' },
    ]);
    expect(judgeComparison(comparison, true)).toMatchObject([
      { grade: 'degraded', reason: expect.stringContaining('100 % longer than the baseline') },
    ]);
    const source = { kind: 'baseline', runs: timed(100), tolerance: 0.05 } as const;
    expect(judge(source, timed(200), []).notes[0]).toMatch(/^write: 1 of 1 row looks 2\.0× slower/);
  });
});

describe('told', () => {
  const items = [
    {
      name: 'write SinglePin 16M',
      grade: 'pass',
      reason: 'Fine.',
      metric: 'gbps',
      value: 95,
      expected: 90,
    },
    { name: 'NIC "nic1" of h2', grade: 'fail', reason: 'It is slow.', next: 'Look at the cable.' },
    { name: 'NIC "nic1" of h2', grade: 'degraded', reason: 'Twice.' },
  ] as const;
  const verdict = verdictOf({ against: 'expect.yaml', items, runs: [] });

  test('the worst first, with the next step; what passed on request', () => {
    const text = formatVerdict(verdict);
    expect(text).toMatch(
      /^verdict: FAIL \(1 fail, 1 degraded, 1 pass\)\ncompared with expect.yaml\n/,
    );
    expect(text).toContain('→ Look at the cable.');
    expect(text).not.toContain('16M');
    expect(formatVerdict(verdict, { all: true })).toContain('write SinglePin 16M');
  });

  test('Prometheus gets each item once, with its quotes escaped', () => {
    const text = formatMetrics(verdict, new Date('2026-01-01T00:00:00Z'));
    expect(text).toContain('weft_check_grade 2\n');
    expect(text).toContain('weft_check_item_value{item="write SinglePin 16M",metric="gbps"} 95\n');
    const lines = text.split('\n').filter((line) => line.includes('nic1'));
    expect(lines).toEqual(['weft_check_item_grade{item="NIC \\"nic1\\" of h2"} 2']);
  });
});
