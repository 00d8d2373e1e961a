import { describe, expect, test } from 'vitest';
import { formatNccl } from '../../src/results/formats/nccl.js';
import { formatNcclJson } from '../../src/results/formats/nccl-json.js';
import { skippedRow } from '../../src/results/rows.js';
import { allToAllRun, runOf, sampleRow, writeRun } from './fixtures.js';

const dataLines = (text: string) =>
  text.split('\n').filter((line) => line !== '' && line[0] !== '#');
const cells = (line: string) => line.trim().split(/\s+/);

describe('nccl-tests’ text', () => {
  test('has its columns in its order', () => {
    expect(cells(dataLines(formatNccl(writeRun()))[0]!)).toEqual(
      '262144 65536 uint32 none -1 66.54 3.940 3.940 0'.split(' '),
    );
  });

  test('counts all that a rank holds for all-to-all', () => {
    expect(cells(dataLines(formatNccl(allToAllRun()))[0]!)).toEqual(
      '16777216 1048576 uint32 none -1 2677.27 6.267 4.700 0'.split(' '),
    );
  });

  test('counts all buffers in flight for round-robin writes', () => {
    expect(cells(dataLines(formatNccl(writeRun()))[4]!)[0]).toBe(String(3 * 262_144));
  });

  test('has a table for each column, named', () => {
    const text = formatNccl(writeRun());
    expect(text.match(/^# column: .*$/gm)).toHaveLength(5);
    expect(
      text.match(/^# +size +count +type +redop +root +time +algbw +busbw +#wrong$/gm),
    ).toHaveLength(3);
  });

  test('says why a column is empty', () => {
    expect(formatNccl(writeRun())).toContain('# column: SingleDMA\n# skipped: no GPU here');
  });

  test('ends a table with nccl-tests’ footer', () => {
    const text = formatNccl(allToAllRun());
    expect(text).toContain('# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 4.6999\n');
  });

  test('says FAILED when bytes were wrong', () => {
    const row = sampleRow({ column: 'A', bytes: 64, us: 5, checked: { bytes: 128, wrong: 2 } });
    const text = formatNccl(runOf([row]));
    expect(text).toContain('# Out of bounds values : 2 FAILED');
    expect(text).toContain('# failed at 64 bytes: 2 of 128 bytes are wrong');
  });

  test('does not say OK to what was not checked', () => {
    const row = sampleRow({ column: 'A', bytes: 64, us: 5, checked: { bytes: 0, wrong: 0 } });
    const text = formatNccl(runOf([row]));
    expect(cells(dataLines(text)[0]!).at(-1)).toBe('N/A');
    expect(text).not.toContain('OK');
  });
});

describe('nccl-tests’ JSON', () => {
  const parsed = (run = allToAllRun()) =>
    JSON.parse(formatNcclJson(run, { args: ['weft', 'all2all'] }));

  test('has the keys of version 3 and no environment', () => {
    expect(Object.keys(parsed())).toEqual([
      'version',
      'start_time',
      'args',
      'config',
      'results',
      'out_of_bounds',
      'average_bus_bandwidth',
      'errors',
      'end_time',
    ]);
  });

  test('has the figures of a row', () => {
    const [result] = parsed().results;
    expect(result).toMatchObject({
      size: 16_777_216,
      count: 1_048_576,
      experiment_name: 'SinglePin',
    });
    expect(result.out_of_place).toMatchObject({ time: 2677.27, nwrong: 0 });
    expect(result.out_of_place.bus_bw).toBeCloseTo(4.7, 3);
  });

  test('has the iterations of a row', () => {
    expect(parsed().results[0].out_of_place_per_iter).toMatchObject({
      avg_us: 2677.27,
      times_us: [2677.26, 2677.27, 2677.28],
    });
  });

  test('leaves out rows without a measurement', () => {
    expect(parsed(runOf([skippedRow({ column: 'A', reason: 'x' })])).results).toEqual([]);
  });

  test('writes truth values as strings', () => {
    expect(parsed().out_of_bounds).toEqual({ count: 0, okay: 'true' });
  });

  test('writes times as nccl-tests does', () => {
    expect(parsed().start_time).toBe('2026-01-02 03:04:05');
  });
});
