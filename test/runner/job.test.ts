import { describe, expect, test } from 'vitest';
import { benchmarkById } from '../../src/benchmarks/index.js';
import { jobOf } from '../../src/runner/job.js';

describe('a job', () => {
  test('drops common options that have no effect on its benchmark', () => {
    const given = { columns: ['SinglePin'], repeats: 3, warmup: 7, budgetMs: 20 };
    const { settings } = jobOf(benchmarkById('pairs'), given);
    expect(settings).toMatchObject({ repeats: 1, warmup: 2, budgetMs: 20 });
    expect(settings).not.toHaveProperty('columns');
  });

  test('keeps the size of a benchmark that has only one', () => {
    const { settings } = jobOf(benchmarkById('queue'), { minBytes: 65_536, nics: ['eth0'] });
    expect(settings).toMatchObject({ minBytes: 16, maxBytes: 16 });
    expect(settings).not.toHaveProperty('nics');
  });

  test('has the defaults of its benchmark where nobody says otherwise', () => {
    const single = benchmarkById('all-to-all-single');
    expect(jobOf(single, {}).settings.iterations).toBe(1);
    expect(jobOf(single, { iterations: 5 }).settings.iterations).toBe(5);
  });

  test('moves one bound out of the way of the other', () => {
    const { settings } = jobOf(benchmarkById('write'), { maxBytes: 1024 });
    expect(settings).toMatchObject({ minBytes: 1024, maxBytes: 1024 });
  });
});
