import { describe, expect, test } from 'vitest';
import { compareRuns, isWorse } from '../../src/analysis/compare/compare.js';
import { seededRandom } from '../../src/measure/seeded-random.js';
import { formatComparison } from '../../src/results/formats/comparison.js';
import { mergeRepeats } from '../../src/results/repeats.js';
import { skippedRow } from '../../src/results/rows.js';
import type { Row } from '../../src/results/schema.js';
import { runOf, sampleRow } from '../results/fixtures.js';
import { moodyRun, sidesOf, sizes } from './moody-runs.js';

const accuses = ({ rows }: ReturnType<typeof compareRuns>) =>
  rows.some(({ verdict }) => verdict === 'slower' || verdict === 'faster');
const verdictsOf = ({ rows }: ReturnType<typeof compareRuns>) => rows.map((row) => row.verdict);

describe('two sides of the same thing', () => {
  test('in turns they are called different in at most 1 of 100, however moody the machine', () => {
    const random = seededRandom(5);
    let different = 0;
    for (let trial = 0; trial < 300; trial++) {
      const comparison = compareRuns(...sidesOf({ random, betweenBlocks: 0.3 }));
      expect(comparison).toMatchObject({ method: 'in turns', noise: { from: 'blocks' } });
      if (accuses(comparison)) different += 1;
    }
    expect(different / 300).toBeLessThanOrEqual(0.01);
  });

  test('in turns, repeats that share the luck of their run are no runs of their own', () => {
    const random = seededRandom(6);
    let different = 0;
    for (let trial = 0; trial < 200; trial++) {
      const luck = { random, betweenBlocks: 0.01, betweenRuns: 0.1 };
      const comparison = compareRuns(...sidesOf(luck, {}, { repeats: 5 }));
      expect(comparison).toMatchObject({ method: 'in turns', blocks: [5, 5] });
      if (accuses(comparison)) different += 1;
    }
    expect(different / 200).toBeLessThanOrEqual(0.01);
  });

  test('in turns on a steady machine they are the same', () => {
    const comparison = compareRuns(...sidesOf({ random: seededRandom(2), betweenBlocks: 0.003 }));
    expect(verdictsOf(comparison)).toEqual(['same', 'same', 'same', 'same']);
    expect(comparison.summary).toBe('write: all 4 rows are the same (within 5 %)');
    expect(comparison.settle).toBeUndefined();
  });

  test.each([
    { name: 'single runs', repeats: 1, method: 'single' },
    { name: 'repeats of single runs', repeats: 5, method: 'single' },
  ])('$name prove nothing, since the noise is not known', ({ repeats, method }) => {
    const luck = { random: seededRandom(repeats), betweenBlocks: 0.002, repeats };
    const comparison = compareRuns([moodyRun(luck)], [moodyRun(luck)]);
    expect(comparison).toMatchObject({ method, noise: { from: 'unknown' } });
    for (const row of comparison.rows)
      expect(row).toMatchObject({ verdict: 'unclear', interval: null });
    expect(comparison.summary).toMatch(
      /^write: no row differs by more than 5 %; .* cannot prove that nothing changed/,
    );
  });

  test('compared with itself a run has the ratio 1, and the answer is the same each time', () => {
    const run = moodyRun({ random: seededRandom(9), betweenBlocks: 0.1, repeats: 12 });
    const once = compareRuns([run], [run]);
    expect(once.rows.every((row) => row.ratio === 1)).toBe(true);
    expect(compareRuns([run], [run])).toEqual(once);
  });
});

describe('a change', () => {
  const luck = { betweenBlocks: 0.004, random: seededRandom(1) };
  const [before, after] = sidesOf(luck, { 262144: 1.15 });

  test('in turns is found in its row alone', () => {
    const comparison = compareRuns(before, after);
    expect(verdictsOf(comparison)).toEqual(['same', 'slower', 'same', 'same']);
    const { ratio, interval } = comparison.rows[1]!;
    expect(ratio).toBeCloseTo(1.15, 1);
    expect(interval![0]).toBeGreaterThan(1);
    expect(interval![0]).toBeLessThan(1.15);
    expect(interval![1]).toBeGreaterThan(1.15);
  });

  test('of 10 % in turns is found in 95 of 100, on a machine whose runs differ by 2 %', () => {
    const random = seededRandom(4);
    const all = Object.fromEntries(sizes.map((bytes) => [bytes, 1.1]));
    let found = 0;
    for (let trial = 0; trial < 100; trial++) {
      if (isWorse(compareRuns(...sidesOf({ random, betweenBlocks: 0.02 }, all)))) found += 1;
    }
    expect(found).toBeGreaterThanOrEqual(95);
  });

  test('the other way round is an improvement, which is no failure', () => {
    const comparison = compareRuns(after, before);
    expect(comparison.rows[1]!.verdict).toBe('faster');
    expect(isWorse(comparison)).toBe(false);
  });

  test('within the tolerance is none', () => {
    expect(isWorse(compareRuns(before, after, { tolerance: 0.2 }))).toBe(false);
    expect(isWorse(compareRuns(before, after, { tolerance: 0.1 }))).toBe(true);
  });

  test('between single runs leads the summary, with the command that settles it', () => {
    const double = Object.fromEntries(sizes.map((bytes) => [bytes, 2]));
    const [a, b] = [{}, double].map((slower, i) =>
      moodyRun({ random: seededRandom(i), betweenBlocks: 0.002, repeats: 1, slower }),
    );
    const comparison = compareRuns([a!], [b!], { abWords: "--a '' --b '--chunk 1M' -- write" });
    expect(comparison.summary).toBe(
      'write: 4 of 4 rows look 2.0× slower; single runs cannot prove it: measure in turns with weft ab',
    );
    expect(comparison.settle).toBe("weft ab --a '' --b '--chunk 1M' -- write");
    expect(isWorse(comparison)).toBe(false);
    expect(isWorse(comparison, { strict: true })).toBe(true);
    expect(isWorse(compareRuns([b!], [a!]), { strict: true })).toBe(false);
    expect(isWorse(compareRuns([a!], [b!], { drift: 0.5 }))).toBe(true);
    expect(isWorse(compareRuns([a!], [b!], { drift: 1.5 }))).toBe(false);
  });

  test('that is hidden in noise is unclear, and more rounds are asked for', () => {
    const noisy = { betweenBlocks: 0.15, random: seededRandom(8) };
    const comparison = compareRuns(...sidesOf(noisy, { 65536: 1.1 }));
    expect(comparison.rows[0]!.verdict).toBe('unclear');
    expect(comparison.summary).toContain('5 runs per side do not prove it: measure more rounds');
    expect(comparison.settle).toMatch(/^weft ab --rounds \d+ /);
  });

  test('a row that most repeats lack is not judged', () => {
    const some = after.map((run, i) =>
      i === 0 ? run : { ...run, rows: run.rows.filter((row) => row.bytes !== 65_536) },
    );
    const { rows } = compareRuns(before, some);
    expect(rows.find((row) => row.bytes === 65_536)).toMatchObject({
      verdict: 'only in A',
      reason: 'measured in 1 of 5 repeats',
    });
  });
});

describe('rows that cannot be compared', () => {
  const good = sampleRow({ column: 'SinglePin', bytes: 65_536, us: 6 });
  const other = sampleRow({ column: 'MultiPin', bytes: 65_536, us: 6 });
  const failed: Row = { ...other, outcome: 'failed', reason: '3 of 9 bytes are wrong' };

  test('missing ones are named on either side', () => {
    const { rows } = compareRuns([runOf([good])], [runOf([other])]);
    expect(rows.map((row) => row.verdict)).toEqual(['only in A', 'only in B']);
  });

  test('a row that fails in B is a failure, one that failed in A is not', () => {
    const worse = compareRuns([runOf([other])], [runOf([failed])]);
    expect(worse.rows[0]).toMatchObject({
      verdict: 'broken in B',
      reason: expect.stringContaining('wrong'),
    });
    expect(isWorse(worse)).toBe(true);
    expect(isWorse(compareRuns([runOf([failed])], [runOf([other])]))).toBe(false);
  });

  test('what both skipped is left out, what one skipped says why', () => {
    const skipped = skippedRow({ column: 'MultiPin', bytes: 65_536, reason: 'no room' });
    expect(compareRuns([runOf([good, skipped])], [runOf([good, skipped])]).rows).toHaveLength(1);
    const { rows } = compareRuns([runOf([other])], [runOf([skipped])]);
    expect(rows[0]).toMatchObject({ verdict: 'only in A', reason: 'no room' });
  });

  test('another set-up is compared, and said', () => {
    const elsewhere = runOf([good], { world: { ranks: 8, hosts: ['a'], launcher: 'srun' } });
    const { warnings } = compareRuns([runOf([good])], [elsewhere]);
    expect(warnings).toEqual(['ranks: 4 in A, 8 in B', 'hosts: 4 in A, 1 in B']);
  });
});

describe('printed', () => {
  const luck = { betweenBlocks: 0.002, random: seededRandom(3) };
  const comparison = compareRuns(...sidesOf(luck, { 65536: 1.3 }));

  test('the summary leads, then the rows that are not the same, or all', () => {
    const some = formatComparison(comparison, 'table');
    expect(some).toMatch(
      /^write: SinglePin 64K is (29|30)\.?\d? % slower; 3 rows are the same \(within 5 %\)\n/,
    );
    expect(some).toMatch(/SinglePin 64K +1\.\d\d× +1\.[23]\d to 1\.3\d .* slower\n/);
    expect(some).toContain('from 5 runs of A and 5 of B, measured in turns');
    expect(some).not.toContain('256K');
    expect(formatComparison(comparison, 'table', { all: true })).toContain('256K');
  });

  test('no line is wider than the terminal', () => {
    const apart = compareRuns(...sidesOf(luck, { 65536: 1.3 }, { apart: true }));
    const lines = formatComparison(apart, 'table', { width: 60 }).split('\n');
    expect(lines.filter((line) => !/×|^to settle/.test(line) && line.length > 60)).toEqual([
      expect.stringMatching(/^Row/),
    ]);
  });

  test('Markdown has a table that renders', () => {
    expect(formatComparison(comparison, 'markdown')).toMatch(/\| SinglePin 64K \|/);
  });

  test('CSV has every row', () => {
    const [head, first, ...others] = formatComparison(comparison, 'csv').trimEnd().split('\r\n');
    expect(head).toMatch(/^benchmark,config,size_bytes,.*verdict,ratio,ratio_low,ratio_high/);
    expect(first).toMatch(/^write,SinglePin,65536,transfer,,,,slower,1\.\d+,1\.\d+,1\.\d+,/);
    expect(others).toHaveLength(3);
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
  expect(row!.samples).toHaveLength(60);
  expect(row!.iterations).toBe(parts.reduce((sum, part) => sum + part.iterations, 0));
  expect(row!.checked.bytes).toBe(3 * parts[0]!.checked.bytes);
  const meanTime = parts.reduce((sum, part) => sum + part.nanoseconds!.mean, 0) / 3;
  expect(row!.nanoseconds!.mean).toBeCloseTo(meanTime, 5);
  expect(row!.gbps! * row!.nanoseconds!.mean).toBeCloseTo(
    parts[0]!.gbps! * parts[0]!.nanoseconds!.mean,
    5,
  );
});
