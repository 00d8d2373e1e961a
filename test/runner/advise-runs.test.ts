import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { benchmarks } from '../../src/benchmarks/index.js';
import { p5Fabric } from '../../src/reference/p5-fabric.js';
import { readRun } from '../../src/results/read-run.js';
import type { Run } from '../../src/results/schema.js';
import { adviseRuns } from '../../src/runner/predict/advise-runs.js';

/** Runs on a lab of 4 hosts × 2 NICs of 100mbit, without what advice does not read. */
const recorded = (name: string): Run =>
  readRun(join(import.meta.dirname, 'advice-runs', `${name}.jsonl`)).run;
const [write, oneNic, exchange, moe] = ['write', 'one-nic', 'all2all', 'moe'].map(recorded) as [
  Run,
  Run,
  Run,
  Run,
];
const advise = (runs: Run[], more: object = {}) => adviseRuns({ runs, ...more }, benchmarks);

describe('advice on runs of the lab', () => {
  test('three buffers over two NICs are split: measured, and a fit is not needed for it', () => {
    const { changes, models } = advise([write]);
    expect(changes[0]).toMatchObject({ what: 'strategy', from: 'SinglePin', known: 'measured' });
    expect(changes[0]!.to).toBe('MultiPin');
    expect(changes[0]!.gain!.factor).toBeCloseTo(2, 1);
    expect(models[0]!.parameters.nicGbps).toBeCloseTo(0.1, 2);
  });

  test('the second NIC of every host is predicted to double the rate', () => {
    const { changes } = advise([oneNic]);
    const [change] = changes;
    expect(change).toMatchObject({ what: 'channels', known: 'predicted', to: '2 (MultiPin)' });
    expect(change!.gain!.factor).toBeCloseTo(2, 1);
    expect(change!.options!.to).toEqual({ channels: 2, columns: ['MultiPin'] });
  });

  test('strategies that an exchange and an expert layer left out, with the model of a write', () => {
    const { changes, open } = advise([write, exchange, moe]);
    const of = (benchmark: string) => changes.filter(({ run }) => run.benchmark === benchmark);
    for (const benchmark of ['all2all', 'moe']) {
      const [change] = of(benchmark);
      expect(change).toMatchObject({ what: 'strategy', known: 'predicted' });
      expect(change!.to).toMatch(/Multi/);
      const [low, high] = change!.gain!.interval;
      expect(change!.gain!.factor).toBeGreaterThan(1.7);
      expect(low).toBeLessThan(change!.gain!.factor);
      expect(high).toBeGreaterThan(change!.gain!.factor);
    }
    expect(open.filter(({ what }) => what === 'model')).toEqual([]);
  });

  test('an exchange alone has no model, and names the run that would give one', () => {
    const { changes, open } = advise([exchange]);
    expect(changes).toEqual([]);
    expect(open).toMatchObject([
      { what: 'model', measure: { benchmark: 'write', options: { columns: ['SinglePin'] } } },
    ]);
  });

  test('a model of another fabric predicts nothing: it misses the measured rows', () => {
    const { changes, open } = advise([exchange], { fabric: p5Fabric });
    expect(changes).toEqual([]);
    expect(open[0]!.reason).toMatch(/The model \(p5\) misses the measured rows of SinglePin by/);
  });

  test('a window that is sent before its first chunk completes leaves the NIC idle', () => {
    const slow = write.rows.map((row) => ({ ...row, ofBoundPercent: 50 }));
    const run = {
      ...write,
      rows: slow,
      settings: { ...write.settings, window: 1, chunkBytes: 65_536 },
    };
    const parameters = { ...p5Fabric.parameters, nicGbps: 0.1, writeMicroseconds: 5200 };
    const { changes } = advise([run], { fabric: { ...p5Fabric, parameters } });
    // 64K take 5.24 ms at 0.1 Gbps: two chunks must be in flight.
    expect(changes.find(({ what }) => what === 'window')).toMatchObject({
      ...{ from: '1', to: '2', known: 'predicted' },
      gain: { factor: expect.closeTo(2, 1) },
    });
  });
});
