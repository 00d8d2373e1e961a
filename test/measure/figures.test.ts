import { describe, expect, test } from 'vitest';
import {
  allToAllBytes,
  figuresOf,
  isTooGood,
  ncclAllToAll,
  ncclPointToPoint,
  oneToEachBytes,
  pingPongBytes,
} from '../../src/measure/figures.js';

const mebibyte = 2 ** 20;

// Times and figures as published for 4 nodes with 4 NICs of 100 Gbps each.
describe('the figures of the reference tables', () => {
  test('send/recv: the size over the full round trip', () => {
    const bytes = pingPongBytes(131_072);
    const figures = figuresOf({ bytes, meanNanoseconds: 107_520, allowedGbps: 100 });
    expect(figures.gbps).toBeCloseTo(9.75, 2);
    expect(figures.busbwPercent).toBeCloseTo(9.8, 1);
  });

  test('write, round-robin: all targets’ bytes over all channels', () => {
    const bytes = oneToEachBytes(4 * mebibyte, 3);
    const figures = figuresOf({ bytes, meanNanoseconds: 398_440, allowedGbps: 400 });
    expect(figures.gbps).toBeCloseTo(252.65, 1);
    expect(figures.busbwPercent).toBeCloseTo(63.2, 1);
  });

  test('all-to-all: per peer, and beside it what went over the line', () => {
    const bytes = allToAllBytes(4 * mebibyte, 4);
    const figures = figuresOf({ bytes, meanNanoseconds: 2_677_270, allowedGbps: 100 });
    expect(figures.gbps).toBeCloseTo(12.53, 2);
    expect(figures.busbwPercent).toBeCloseTo(12.5, 1);
    expect(figures.lineGbps).toBeCloseTo(37.6, 1);
    expect(figures.linePercent).toBeCloseTo(37.6, 1);
  });
});

describe('figures', () => {
  const bytes = pingPongBytes(1000);

  test('have no percentages without a line rate', () => {
    expect(figuresOf({ bytes, meanNanoseconds: 1000 })).toEqual({
      gbps: 8,
      lineGbps: 8,
      busbwPercent: null,
      linePercent: null,
      ofBoundPercent: null,
    });
  });

  test('compare the best possible time with the measured one', () => {
    const figures = figuresOf({ bytes, meanNanoseconds: 1000, boundNanoseconds: 750 });
    expect(figures.ofBoundPercent).toBe(75);
  });

  test('say nothing of a bound of no time', () => {
    const figures = figuresOf({ bytes, meanNanoseconds: 1000, boundNanoseconds: 0 });
    expect(figures.ofBoundPercent).toBeNull();
  });

  test('are all unknown when no time passed', () => {
    expect(figuresOf({ bytes, meanNanoseconds: 0, allowedGbps: 1 }).gbps).toBeNull();
  });

  test.each([
    [1020, true],
    [1030, false],
  ])('are too good above 102 %% of the bound (%i ns: %s)', (meanNanoseconds, tooGood) => {
    const figures = figuresOf({ bytes, meanNanoseconds, boundNanoseconds: 1045 });
    expect(isTooGood(figures)).toBe(tooGood);
  });
});

describe('nccl-tests’ figures', () => {
  test('of all-to-all count all a rank holds, and take out its own block for busbw', () => {
    expect(ncclAllToAll(1000, 4, 100)).toEqual({ sizeBytes: 4000, algbw: 40, busbw: 30 });
  });

  test('point to point are one and the same', () => {
    expect(ncclPointToPoint(1000, 100)).toEqual({ sizeBytes: 1000, algbw: 10, busbw: 10 });
  });
});
