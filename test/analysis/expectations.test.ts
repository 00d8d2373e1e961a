import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import {
  type Expectation,
  judgeExpectations,
  limitsOf,
  readExpectations,
} from '../../src/analysis/verdict/expectations.js';
import type { Row } from '../../src/results/schema.js';
import { runOf, sampleRow } from '../results/fixtures.js';
import { M, rowAt } from './row-at.js';

const folder = mkdtempSync(join(tmpdir(), 'weft-verdict-'));
afterAll(() => rmSync(folder, { recursive: true }));

function fileOf(text: string): string {
  const file = join(folder, `${Math.random()}.yaml`);
  writeFileSync(file, text);
  return file;
}

describe('expectations', () => {
  const expectation: Expectation = {
    benchmark: 'write',
    column: 'SinglePin',
    bytes: 16 * M,
    metric: 'gbps',
    limits: limitsOf('gbps', 90),
  };

  test.each([
    [95, 'pass'],
    [89, 'degraded'],
    [72.1, 'degraded'],
    [71, 'fail'],
  ] as const)('%d Gbps where 90 pass and 72 fail: %s', (gbps, grade) => {
    const [item] = judgeExpectations([expectation], [runOf([rowAt(gbps)])]);
    expect(item).toMatchObject({ grade, metric: 'gbps', expected: 90 });
    expect(item!.next === undefined).toBe(grade === 'pass');
  });

  test('of a latency less is better', () => {
    const late = {
      ...expectation,
      metric: 'latencyUs',
      limits: limitsOf('latencyUs', 1000),
    } as const;
    const gradeOf = (us: number) =>
      judgeExpectations(
        [late],
        [runOf([sampleRow({ column: 'SinglePin', bytes: 16 * M, us })])],
      )[0]!.grade;
    expect([gradeOf(900), gradeOf(1200), gradeOf(1300)]).toEqual(['pass', 'degraded', 'fail']);
  });

  test('what nobody measured has failed, with the reason', () => {
    const skipped: Row = { ...rowAt(95), outcome: 'skipped', reason: 'needs a GPU' };
    expect(judgeExpectations([expectation], [runOf([skipped])])[0]).toMatchObject({
      grade: 'fail',
      reason: 'Not measured: needs a GPU.',
    });
    expect(judgeExpectations([expectation], [])[0]!.grade).toBe('fail');
  });

  test('without a size every size is judged', () => {
    const { bytes: _, ...any } = expectation;
    const rows = [rowAt(95, 4 * M), rowAt(50, 16 * M)];
    expect(judgeExpectations([any], [runOf(rows)]).map((item) => item.grade)).toEqual([
      'pass',
      'fail',
    ]);
  });

  test('a share of a line rate that is not known cannot pass', () => {
    const share = { ...expectation, metric: 'busbwPercent' } as const;
    const row = sampleRow({ column: 'SinglePin', bytes: 16 * M, us: 1000 });
    expect(judgeExpectations([share], [runOf([row])])[0]).toMatchObject({ grade: 'fail' });
  });

  test('a file is read with its sizes and both forms of limits', () => {
    const file = fileOf(`
expect:
  - { benchmark: write, column: MultiPin, bytes: 16M, gbps: 380, ofBoundPercent: { pass: 90, fail: 70 } }
  - { benchmark: sendrecv, column: SinglePin, halfRoundTripUs: 20 }
`);
    expect(readExpectations(file)).toEqual([
      {
        benchmark: 'write',
        column: 'MultiPin',
        bytes: 16 * M,
        metric: 'gbps',
        limits: { pass: 380, fail: 304 },
      },
      {
        benchmark: 'write',
        column: 'MultiPin',
        bytes: 16 * M,
        metric: 'ofBoundPercent',
        limits: { pass: 90, fail: 70 },
      },
      {
        benchmark: 'sendrecv',
        column: 'SinglePin',
        metric: 'halfRoundTripUs',
        limits: { pass: 20, fail: 25 },
      },
    ]);
  });

  test.each([
    ['nothing', ''],
    ['a typing mistake', 'expect: [{ benchmark: write, column: MultiPin, gpbs: 3 }]'],
    ['no figure', 'expect: [{ benchmark: write, column: MultiPin }]'],
    [
      'limits the wrong way round',
      'expect: [{ benchmark: write, column: A, gbps: { pass: 1, fail: 2 } }]',
    ],
    ['no YAML', 'expect: ['],
    ['a bad size', 'expect: [{ benchmark: write, column: A, bytes: 3Q, gbps: 1 }]'],
  ])('a file with %s is refused', (_, text) => {
    expect(() => readExpectations(fileOf(text))).toThrow(
      expect.objectContaining({
        code: 'BAD_USAGE',
        hint: expect.stringContaining('docs/checking.md'),
      }),
    );
  });
});
