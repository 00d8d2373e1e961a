import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { kv } from '../../src/benchmarks/kv.js';
import { rate } from '../../src/benchmarks/rate.js';
import { traffic } from '../../src/benchmarks/traffic.js';
import { jobOf } from '../../src/runner/job.js';

describe('transfers that start late', () => {
  const folder = mkdtempSync(join(tmpdir(), 'weft-late-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'trace.jsonl');
  writeFileSync(file, '{"from":0,"to":1,"bytes":8}\n{"at":2e6,"from":1,"to":0,"bytes":8}\n');

  test.each([
    [{ timeoutMs: 2000 }, 'the last transfer would start after 2 s, later than `timeoutMs`'],
    [{ timeoutMs: 10_000, scaleTime: 5 }, 'would start after 10 s, later than `timeoutMs`'],
    [{ timeoutMs: 1e8, scaleTime: 43_200 }, 'would start after 86400 s, later than a day'],
  ])('are refused (%j)', (given, why) => {
    expect(() => jobOf(traffic, { file, ...given })).toThrow(why);
  });

  test('are not, before the timeout', () => {
    expect(() => jobOf(traffic, { file, timeoutMs: 2001 })).not.toThrow();
    expect(() => jobOf(traffic, { file, timeoutMs: 2000, scaleTime: 0.9 })).not.toThrow();
  });
});

test('what counts messages or pages needs some with bytes', () => {
  expect(() => jobOf(rate, { minBytes: 0 })).toThrow('a message needs at least 1 byte');
  expect(() => jobOf(kv, { minBytes: 0 })).toThrow('a page needs at least 1 byte');
});
