import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { WeftError } from '../../errors.js';
import { formatBytes, microseconds, parseBytes } from '../../measure/units.js';
import { nameOfRow } from '../../results/row-name.js';
import type { Row, Run } from '../../results/schema.js';
import type { Grade, Item } from './verdict.js';

interface Metric {
  readonly unit: string;
  readonly moreIsBetter: boolean;
  of(row: Row): number | null | undefined;
}

export const metrics = {
  gbps: { unit: 'Gbps', moreIsBetter: true, of: (row) => row.gbps },
  lineGbps: { unit: 'Gbps on the line', moreIsBetter: true, of: (row) => row.lineGbps },
  busbwPercent: { unit: '% BusBW', moreIsBetter: true, of: (row) => row.busbwPercent },
  linePercent: { unit: '% of the line rate', moreIsBetter: true, of: (row) => row.linePercent },
  ofBoundPercent: { unit: '% of the bound', moreIsBetter: true, of: (row) => row.ofBoundPercent },
  mops: { unit: 'million/s', moreIsBetter: true, of: (row) => row.mops },
  latencyUs: {
    unit: 'us',
    moreIsBetter: false,
    of: (row) => row.nanoseconds && microseconds(row.nanoseconds.p50),
  },
  halfRoundTripUs: {
    unit: 'us half round trip',
    moreIsBetter: false,
    of: ({ halfRoundTripNanoseconds: half }) => half && microseconds(half),
  },
} as const satisfies Record<string, Metric>;

/** The figures that limits can be set on. */
export type MetricName = keyof typeof metrics;
const metricNames = Object.keys(metrics) as MetricName[];

/** What a row must reach to pass, and below which it fails; between the two it is degraded. */
export interface Limits {
  readonly pass: number;
  readonly fail: number;
}

/** A limit on one figure of the rows it names. */
export interface Expectation {
  readonly benchmark: string;
  readonly column: string;
  /** Absent: every size that was measured. */
  readonly bytes?: number;
  readonly metric: MetricName;
  readonly limits: Limits;
  /** Where `pass` comes from, as the reason says it: `95 % of the share published for p5`. */
  readonly basis?: string;
}

/** Where `fail` is not said: so much short of `pass`. */
const usualFail = 0.8;

export const limitsOf = (metric: MetricName, pass: number, fail?: number): Limits => ({
  pass,
  fail: fail ?? (metrics[metric].moreIsBetter ? pass * usualFail : pass / usualFail),
});

const limitsSchema = z.union([
  z.number().positive(),
  z.strictObject({ pass: z.number().positive(), fail: z.number().positive().optional() }),
]);
const expectationSchema = z.strictObject({
  benchmark: z.string(),
  column: z.string(),
  bytes: z
    .union([z.int().positive(), z.string()])
    .transform((value) => parseBytes(String(value)))
    .optional(),
  ...(Object.fromEntries(metricNames.map((name) => [name, limitsSchema.optional()])) as Record<
    MetricName,
    z.ZodOptional<typeof limitsSchema>
  >),
});
const fileSchema = z.strictObject({ expect: z.array(expectationSchema).min(1) });

/** Reads the file of `--expect`. */
export function readExpectations(file: string): Expectation[] {
  try {
    return fileSchema.parse(parse(readFileSync(file, 'utf8'))).expect.flatMap(expanded);
  } catch (cause) {
    const why = cause instanceof z.ZodError ? z.prettifyError(cause) : (cause as Error).message;
    throw new WeftError('BAD_USAGE', `${file} is not a valid expectations file: ${why}`, {
      hint: 'Write YAML with `expect:`, a list of benchmark, column, bytes and limits; see docs/checking.md.',
      cause,
    });
  }
}

function expanded(entry: z.infer<typeof expectationSchema>): Expectation[] {
  const { benchmark, column, bytes } = entry;
  const expectations = metricNames.flatMap((metric): Expectation[] => {
    const given = entry[metric];
    if (given === undefined) return [];
    const { pass, fail } = typeof given === 'number' ? { pass: given, fail: undefined } : given;
    const limits = limitsOf(metric, pass, fail);
    refuseCrossed(metric, limits);
    return [{ benchmark, column, metric, limits, ...(bytes !== undefined && { bytes }) }];
  });
  if (expectations.length > 0) return expectations;
  throw new TypeError(
    `${benchmark} ${column} has no limit: give at least one of ${metricNames.join(', ')}`,
  );
}

function refuseCrossed(metric: MetricName, { pass, fail }: Limits): void {
  const ordered = metrics[metric].moreIsBetter ? fail <= pass : fail >= pass;
  if (!ordered) throw new TypeError(`${metric}: fail ${fail} is better than pass ${pass}`);
}

/** Every expectation against the runs; one that nothing was measured for has failed. */
export function judgeExpectations(
  expectations: readonly Expectation[],
  runs: readonly Run[],
): Item[] {
  return expectations.flatMap((expectation): Item[] => {
    const { benchmark, column, bytes } = expectation;
    const rows = runs
      .filter((run) => run.benchmark === benchmark)
      .flatMap((run) => run.rows)
      .filter((row) => row.column === column && (bytes === undefined || row.bytes === bytes));
    const measured = rows.filter((row) => row.outcome === 'passed');
    if (measured.length > 0) return measured.map((row) => judgeRow(row, expectation));
    const why = rows.find((row) => row.reason)?.reason ?? 'no run has this row';
    const name = [benchmark, column, ...(bytes === undefined ? [] : [formatBytes(bytes)])].join(
      ' ',
    );
    const next = `Run weft ${benchmark} --columns ${column} alone and read its output.`;
    return [{ name, grade: 'fail', reason: `Not measured: ${why}.`, next }];
  });
}

export function judgeRow(row: Row, { benchmark, metric, limits, basis }: Expectation): Item {
  const { unit, moreIsBetter, of } = metrics[metric] as Metric;
  const subject = { name: `${benchmark} ${nameOfRow(row)}`, metric, expected: limits.pass };
  const value = of(row);
  if (value === null || value === undefined) {
    const reason = `${metric} is unknown, so this row cannot be judged.`;
    const next = 'Set the line rate with `lineRateGbps`, or expect another metric.';
    return { ...subject, grade: 'fail', reason, next };
  }
  const grade = gradeOf(value, limits, moreIsBetter);
  const bound = moreIsBetter ? 'at least' : 'at most';
  const from = basis === undefined ? '' : `, ${basis}`;
  const reason = `${figure(value)} ${unit}; expected ${bound} ${figure(limits.pass)}${from}.`;
  const next = `Find the cause with weft pairs --per-rail, then repeat weft ${benchmark} --columns ${row.column}.`;
  return { ...subject, grade, reason, value, ...(grade !== 'pass' && { next }) };
}

function gradeOf(value: number, { pass, fail }: Limits, moreIsBetter: boolean): Grade {
  if (moreIsBetter ? value >= pass : value <= pass) return 'pass';
  return (moreIsBetter ? value >= fail : value <= fail) ? 'degraded' : 'fail';
}

const figure = (value: number): string => String(Number(value.toPrecision(4)));
