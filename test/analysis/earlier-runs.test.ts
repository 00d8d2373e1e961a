import { describe, expect, test } from 'vitest';
import { type CompareOptions, compareRuns, isWorse } from '../../src/analysis/compare/compare.js';
import { earlierRunOf } from '../../src/analysis/compare/earlier-runs.js';
import { seededRandom } from '../../src/measure/seeded-random.js';
import type { Run } from '../../src/results/schema.js';
import { moodyRun, sizes } from './moody-runs.js';

const double = Object.fromEntries(sizes.map((bytes) => [bytes, 2]));

interface Past {
  readonly count: number;
  readonly betweenBlocks: number;
  readonly seed?: number;
  /** Which runs take twice as long. */
  readonly slow?: (index: number) => boolean;
}

/** Runs of the same set-up, one a minute. */
function past({ count, betweenBlocks, seed = 1, slow = () => false }: Past): Run[] {
  const random = seededRandom(seed);
  return Array.from({ length: count }, (_, i) => ({
    ...moodyRun({ random, betweenBlocks, repeats: 1, minute: i, slower: slow(i) ? double : {} }),
    id: `run ${i}`,
  }));
}

/** The last two of the runs, with those before them as history. */
function lastTwo(runs: readonly Run[], options: CompareOptions = {}) {
  const [a, b] = runs.slice(-2);
  return compareRuns([a!], [b!], { history: runs.map(earlierRunOf), ...options });
}

describe('the runs of a side', () => {
  const against = (runs: readonly Run[], latest: number) =>
    compareRuns(runs.slice(0, -latest), runs.slice(-latest));

  test('prove a change, as they would as earlier runs', () => {
    const comparison = against(past({ count: 21, betweenBlocks: 0.003, slow: (i) => i === 20 }), 1);
    expect(comparison).toMatchObject({
      method: 'single',
      noise: { from: 'history', earlierRuns: 0 },
    });
    for (const row of comparison.rows) {
      expect(row).toMatchObject({ verdict: 'slower', noise: { earlierRuns: 20 } });
    }
  });

  test.each([1, 5])('rarely call %i equal runs different', (latest) => {
    let accused = 0;
    for (let trial = 0; trial < 200; trial++) {
      const { rows } = against(past({ count: 12, betweenBlocks: 0.1, seed: trial }), latest);
      if (rows.some(({ verdict }) => verdict === 'slower' || verdict === 'faster')) accused += 1;
    }
    expect(accused / 200).toBeLessThanOrEqual(0.01);
  });

  test('differ at least as much as the repeats in them', () => {
    const run = (minute: number, repeats: number) =>
      moodyRun({ random: seededRandom(minute), betweenBlocks: 0.2, repeats, minute });
    const steady = past({ count: 10, betweenBlocks: 0.003 });
    const { rows } = compareRuns(steady, [run(10, 5)]);
    for (const row of rows) expect(row.noise!.spread).toBeGreaterThan(0.1);
  });
});

describe('earlier runs', () => {
  test('say how much runs differ: equal runs are rarely called different', () => {
    let accused = 0;
    for (let trial = 0; trial < 300; trial++) {
      const comparison = lastTwo(past({ count: 12, betweenBlocks: 0.1, seed: trial }));
      expect(comparison.noise).toEqual({ from: 'history', earlierRuns: 10 });
      if (comparison.rows.some(({ verdict }) => verdict === 'slower' || verdict === 'faster')) {
        accused += 1;
      }
    }
    expect(accused / 300).toBeLessThanOrEqual(0.01);
  });

  test('of a steady link prove a change, and that nothing changed', () => {
    const steady = { count: 12, betweenBlocks: 0.003 };
    expect(isWorse(lastTwo(past({ ...steady, slow: (i) => i === 11 })))).toBe(true);
    const { summary } = lastTwo(past(steady), { tolerance: 0.2 });
    expect(summary).toBe('write: all 4 rows are the same (within 20 %)');
  });

  test('of a moody one leave the same change unclear', () => {
    const comparison = lastTwo(past({ count: 12, betweenBlocks: 0.4, slow: (i) => i === 11 }));
    expect(isWorse(comparison)).toBe(false);
    expect(comparison.summary).toContain('10 earlier runs of the same set-up do not prove it');
  });

  test('that changed once for good do not hide the change; those that go back and forth do', () => {
    const steady = { count: 14, betweenBlocks: 0.003 };
    const stepped = past({ ...steady, slow: (i) => i >= 6 });
    const compare = (runs: Run[], a: number, b: number) =>
      compareRuns([runs[a]!], [runs[b]!], { history: runs.map(earlierRunOf) });
    expect(isWorse(compare(stepped, 2, 13))).toBe(true);
    const flapping = past({ ...steady, slow: (i) => i % 3 === 1 });
    expect(isWorse(compare(flapping, 12, 13))).toBe(false);
  });

  test('show when A is the odd one: then nobody is accused', () => {
    const odd = past({ count: 12, betweenBlocks: 0.003, slow: (i) => i === 10 });
    const { rows } = lastTwo(odd);
    for (const row of rows) {
      expect(row).toMatchObject({
        verdict: 'unclear',
        reason: 'A differs from its own earlier runs',
      });
    }
  });

  test('of another provider or other hosts say nothing about B; those with other settings do', () => {
    const runs = past({ count: 12, betweenBlocks: 0.003, slow: (i) => i === 11 });
    const withLast = (change: (run: Run) => Partial<Run>) =>
      lastTwo([...runs.slice(0, -1), { ...runs[11]!, ...change(runs[11]!) }]);
    for (const { rows } of [
      withLast(({ fabric }) => ({ fabric: { ...fabric, provider: 'shm' } })),
      withLast(({ world }) => ({ world: { ...world, hosts: ['elsewhere'] } })),
    ]) {
      const reason = expect.stringContaining('B has fewer than 3 runs of its set-up');
      for (const row of rows) expect(row).toMatchObject({ verdict: 'unclear', reason });
    }
    const other = withLast(({ settings }) => ({ settings: { ...settings, chunkBytes: 4096 } }));
    expect(isWorse(other)).toBe(true);
  });

  test('count only if they are like A or B, and before them', () => {
    const runs = past({ count: 12, betweenBlocks: 0.003 });
    const elsewhere = runs.map((run, i) =>
      i < 10 ? { ...run, world: { ...run.world, ranks: 8 } } : run,
    );
    expect(lastTwo(elsewhere).noise).toEqual({ from: 'unknown', earlierRuns: 0 });
    const later = compareRuns([runs[0]!], [runs[1]!], { history: runs.map(earlierRunOf) });
    expect(later.noise).toEqual({ from: 'unknown', earlierRuns: 0 });
    const fewer = lastTwo(runs.slice(-4));
    expect(fewer.noise).toEqual({ from: 'unknown', earlierRuns: 2 });
  });
});
