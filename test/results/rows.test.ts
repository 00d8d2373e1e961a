import { describe, expect, test } from 'vitest';
import { figuresOf, pingPongBytes } from '../../src/measure/figures.js';
import { measuredRow, outcomeOf, skippedRow } from '../../src/results/rows.js';
import { rowSchema } from '../../src/results/schema.js';

const measured = {
  column: 'SinglePin',
  bytes: 4096,
  samples: [1000, 1010, 1020],
  figures: figuresOf({ bytes: pingPongBytes(4096), meanNanoseconds: 1010 }),
  checked: { bytes: 8192, wrong: 0 },
};

describe('a measured row', () => {
  test('fits the schema', () => expect(rowSchema.parse(measuredRow(measured))).toBeDefined());

  test('counts elements of four bytes', () => expect(measuredRow(measured).count).toBe(1024));

  test('counts iterations over batches', () => {
    expect(measuredRow({ ...measured, batch: 16 })).toMatchObject({ iterations: 48, batch: 16 });
  });

  test('keeps its samples', () => {
    expect(measuredRow(measured).samples).toEqual([1000, 1010, 1020]);
  });

  test('fails by a single wrong byte', () => {
    const row = measuredRow({ ...measured, checked: { bytes: 8192, wrong: 1 } });
    expect(row).toMatchObject({ outcome: 'failed', reason: '1 of 8192 bytes are wrong' });
  });

  test('fails for the reason it is given', () => {
    const row = measuredRow({ ...measured, failure: 'faster than the line' });
    expect(row).toMatchObject({ outcome: 'failed', reason: 'faster than the line' });
  });

  test('of round trips gives the half beside', () => {
    expect(measuredRow({ ...measured, roundTrip: true }).halfRoundTripNanoseconds).toBe(505);
  });

  test('judges its own noise', () => {
    expect(measuredRow({ ...measured, samples: [1000, 2000, 3000] }).noisy).toBe(true);
  });
});

describe('a skipped row', () => {
  test('fits the schema', () => {
    expect(rowSchema.parse(skippedRow({ column: 'X', reason: 'no GPU' }))).toBeDefined();
  });

  test('has no numbers, not zeros', () => {
    const row = skippedRow({ column: 'X', bytes: 64, reason: 'too big' });
    expect(row).toMatchObject({ gbps: null, nanoseconds: null, busbwPercent: null, bytes: 64 });
  });
});

describe('the outcome of a run', () => {
  const of = (...outcomes: ('passed' | 'failed' | 'skipped' | 'aborted')[]) =>
    outcomeOf(outcomes.map((outcome) => ({ outcome })));

  test('passes in spite of skipped rows', () => expect(of('passed', 'skipped')).toBe('passed'));
  test('fails by one row', () => expect(of('passed', 'failed', 'passed')).toBe('failed'));
  test('is aborted above all', () => expect(of('failed', 'aborted')).toBe('aborted'));
  test('is skipped when nothing ran', () => expect(of('skipped')).toBe('skipped'));
});
