import { describe, expect, test } from 'vitest';
import { compareRuns, isWorse } from '../../src/analysis/compare/compare.js';
import { seededRandom } from '../../src/measure/seeded-random.js';
import { formatComparison } from '../../src/results/formats/comparison.js';
import { mergeRepeats } from '../../src/results/repeats.js';
import { skippedRow } from '../../src/results/rows.js';
import type { Row, Run } from '../../src/results/schema.js';
import { runOf, sampleRow } from '../results/fixtures.js';

const sizes = [65_536, 262_144, 1_048_576, 4_194_304];

/** About a normal deviate. */
const bell = (random: () => number) =>
  Array.from({ length: 12 }, random).reduce((sum, one) => sum + one, -6);

interface Luck {
  readonly random: () => number;
  /** How runs (or repeats) differ when nothing has changed. */
  readonly betweenBlocks: number;
  readonly repeats: number;
  /** What is slower in this run: a size's factor. */
  readonly slower?: Readonly<Record<number, number>>;
  readonly minute?: number;
}

/** A run as a machine with moods makes it: each repeat has its own luck, and each row within it. */
function moodyRun({ random, betweenBlocks, repeats, slower = {}, minute = 0 }: Luck): Run {
  const rows: Row[] = [];
  for (let repeat = 0; repeat < repeats; repeat++) {
    const mood = Math.exp(betweenBlocks * bell(random));
    for (const bytes of sizes) {
      const own = mood * Math.exp((betweenBlocks / 2) * bell(random)) * (slower[bytes] ?? 1);
      const samples = Array.from({ length: 60 }, () =>
        Math.round((bytes / 10) * own * (1 + 0.02 * bell(random))),
      );
      const row = sampleRow({ column: 'SinglePin', bytes, us: bytes / 10_000, samples });
      rows.push(repeats > 1 ? { ...row, repeat } : row);
    }
  }
  return runOf(rows, { startedAt: new Date(minute * 60_000).toISOString() });
}

/** Five runs of each side, in turns or one side after the other. */
function sidesOf(luck: Omit<Luck, 'repeats' | 'minute'>, slower = {}, apart = false) {
  const side = (own: Luck['slower'], first: number) =>
    [0, 1, 2, 3, 4].map((i) =>
      moodyRun({
        ...luck,
        repeats: 1,
        minute: apart ? first * 5 + i : 2 * i + first,
        slower: own ?? {},
      }),
    );
  return [side({}, 0), side(slower, 1)] as const;
}

describe('two runs of the same thing', () => {
  test('in turns they are called different in at most 1 of 100, however moody the machine', () => {
    const random = seededRandom(5);
    let different = 0;
    for (let trial = 0; trial < 300; trial++) {
      const { rows, method } = compareRuns(...sidesOf({ random, betweenBlocks: 0.3 }));
      expect(method).toBe('in turns');
      if (rows.some((row) => row.change !== 'same')) different += 1;
    }
    expect(different / 300).toBeLessThanOrEqual(0.01);
  });

  test.each([
    { name: 'one run each', repeats: 1, betweenBlocks: 0.2 },
    { name: 'five repeats each, one after the other', repeats: 5, betweenBlocks: 0.25 },
  ])('$name: nor there', ({ repeats, betweenBlocks }) => {
    const random = seededRandom(repeats);
    let different = 0;
    for (let trial = 0; trial < 300; trial++) {
      const luck = { random, betweenBlocks, repeats };
      const { rows } = compareRuns([moodyRun(luck)], [moodyRun(luck)]);
      if (rows.some((row) => row.change !== 'same')) different += 1;
    }
    expect(different / 300).toBeLessThanOrEqual(0.01);
  });

  test('compared with themselves they are the same, and the answer is the same each time', () => {
    const run = moodyRun({ random: seededRandom(9), betweenBlocks: 0.1, repeats: 12 });
    const once = compareRuns([run], [run]);
    expect(once.rows.every((row) => row.change === 'same' && row.effect === 0)).toBe(true);
    expect(compareRuns([run], [run])).toEqual(once);
  });
});

describe('a change', () => {
  const luck = { betweenBlocks: 0.01, random: seededRandom(1) };
  const [before, after] = sidesOf(luck, { 262144: 1.15 });

  test('is found in its row alone', () => {
    const { rows, method } = compareRuns(before, after);
    expect(method).toBe('in turns');
    expect(rows.map((row) => row.change)).toEqual(['same', 'slower', 'same', 'same']);
    expect(rows[1]!.effect).toBeCloseTo(0.15, 1);
  });

  test('the other way round is an improvement, which is no failure', () => {
    const comparison = compareRuns(after, before);
    expect(comparison.rows[1]!.change).toBe('faster');
    expect(isWorse(comparison)).toBe(false);
  });

  test('within the tolerance is none', () => {
    expect(isWorse(compareRuns(before, after, { tolerance: 0.2 }))).toBe(false);
    expect(isWorse(compareRuns(before, after, { tolerance: 0.1 }))).toBe(true);
  });

  test('one side after the other, only what the machine does not do by itself is seen', () => {
    const apart = (factor: number) => sidesOf(luck, { 65536: factor }, true);
    expect(compareRuns(...apart(1.3))).toMatchObject({ method: 'apart', tolerance: 0.5 });
    expect(isWorse(compareRuns(...apart(1.3)))).toBe(false);
    expect(isWorse(compareRuns(...apart(1.8)))).toBe(true);
    expect(isWorse(compareRuns(...apart(1.3), { drift: 0.1 }))).toBe(true);
  });

  test('between single runs only a tenfold change counts, unless the machine is known to be steady', () => {
    const single = (seed: number, factor: number) => [
      moodyRun({
        random: seededRandom(seed),
        betweenBlocks: 0.01,
        repeats: 1,
        slower: { 65536: factor },
      }),
    ];
    const comparison = compareRuns(single(1, 1), single(2, 11));
    expect(comparison.method).toBe('single');
    expect(comparison.rows.map((row) => row.change)).toEqual(['slower', 'same', 'same', 'same']);
    expect(isWorse(compareRuns(single(1, 1), single(2, 1.5)))).toBe(false);
    expect(isWorse(compareRuns(single(1, 1), single(2, 1.5), { drift: 0.2 }))).toBe(true);
  });

  test('a row that most repeats lack is not judged', () => {
    const some = after.map((run, i) =>
      i === 0 ? run : { ...run, rows: run.rows.filter((row) => row.bytes !== 65_536) },
    );
    const { rows } = compareRuns(before, some);
    expect(rows.find((row) => row.row.bytes === 65_536)).toMatchObject({
      change: 'only in A',
      reason: 'measured in 1 of 5 repeats',
    });
  });

  test('too few samples prove nothing', () => {
    const slow = sampleRow({ column: 'SinglePin', bytes: 65_536, us: 1000 });
    const fast = sampleRow({ column: 'SinglePin', bytes: 65_536, us: 100 });
    expect(compareRuns([runOf([fast])], [runOf([slow])]).rows[0]!.change).toBe('same');
  });
});

describe('rows that cannot be compared', () => {
  const good = sampleRow({ column: 'SinglePin', bytes: 65_536, us: 6 });
  const other = sampleRow({ column: 'MultiPin', bytes: 65_536, us: 6 });
  const failed: Row = { ...other, outcome: 'failed', reason: '3 of 9 bytes are wrong' };

  test('missing ones are named on either side', () => {
    const { rows } = compareRuns([runOf([good])], [runOf([other])]);
    expect(rows.map((row) => row.change)).toEqual(['only in A', 'only in B']);
  });

  test('a row that fails in B is a failure, one that failed in A is not', () => {
    const worse = compareRuns([runOf([other])], [runOf([failed])]);
    expect(worse.rows[0]).toMatchObject({
      change: 'broken in B',
      reason: expect.stringContaining('wrong'),
    });
    expect(isWorse(worse)).toBe(true);
    expect(isWorse(compareRuns([runOf([failed])], [runOf([other])]))).toBe(false);
  });

  test('what both skipped is left out, what one skipped says why', () => {
    const skipped = skippedRow({ column: 'MultiPin', bytes: 65_536, reason: 'no room' });
    expect(compareRuns([runOf([good, skipped])], [runOf([good, skipped])]).rows).toHaveLength(1);
    const { rows } = compareRuns([runOf([other])], [runOf([skipped])]);
    expect(rows[0]).toMatchObject({ change: 'only in A', reason: 'no room' });
  });

  test('another set-up is compared, and said', () => {
    const elsewhere = runOf([good], { world: { ranks: 8, hosts: ['a'], launcher: 'srun' } });
    const { warnings } = compareRuns([runOf([good])], [elsewhere]);
    expect(warnings).toEqual(['ranks: 4 in A, 8 in B', 'hosts: 4 in A, 1 in B']);
  });
});

describe('printed', () => {
  const luck = { betweenBlocks: 0.005, random: seededRandom(3) };
  const comparison = compareRuns(...sidesOf(luck, { 65536: 1.3 }));

  test('a table shows what differs, or everything', () => {
    const some = formatComparison(comparison, 'table');
    expect(some).toMatch(/^write, B compared with A: 1 slower, 3 same\n/);
    expect(some).toMatch(/SinglePin 64K .* \+\d+\.\d % +0\.008 +slower/);
    expect(some).not.toContain('256K');
    expect(formatComparison(comparison, 'table', { all: true })).toContain('256K');
  });

  test('Markdown has a table that renders', () => {
    expect(formatComparison(comparison, 'markdown')).toMatch(/\| SinglePin 64K \|/);
  });

  test('JSON is the comparison', () => {
    expect(JSON.parse(formatComparison(comparison, 'json'))).toEqual(comparison);
  });
});

test('repeats are one row for readers, with all samples and checks', () => {
  const run = moodyRun({ random: seededRandom(5), betweenBlocks: 0.1, repeats: 3 });
  const merged = mergeRepeats(run);
  expect(merged.rows).toHaveLength(sizes.length);
  const [row] = merged.rows;
  const parts = run.rows.filter((one) => one.bytes === row!.bytes);
  expect(row!.samples).toHaveLength(180);
  expect(row!.iterations).toBe(parts.reduce((sum, part) => sum + part.iterations, 0));
  expect(row!.checked.bytes).toBe(3 * parts[0]!.checked.bytes);
  const meanTime = parts.reduce((sum, part) => sum + part.nanoseconds!.mean, 0) / 3;
  expect(row!.nanoseconds!.mean).toBeCloseTo(meanTime, 5);
  expect(row!.gbps! * row!.nanoseconds!.mean).toBeCloseTo(
    parts[0]!.gbps! * parts[0]!.nanoseconds!.mean,
    5,
  );
});
