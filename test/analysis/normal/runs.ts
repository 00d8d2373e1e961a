import { allToAllBytes } from '../../../src/measure/figures.js';
import type { Row, Run } from '../../../src/results/schema.js';
import { runOf, sampleRow } from '../../results/fixtures.js';

export const M = 2 ** 20;

/** A run on some p5 machines over EFA. */
export const p5Run = (rows: Row[], changes: Partial<Run> = {}): Run => {
  const base = runOf(rows);
  return {
    ...base,
    world: { ...base.world, facts: { machine: 'p5.48xlarge' } },
    fabric: { ...base.fabric, provider: 'efa' },
    settings: { minBytes: 16 * M, maxBytes: 64 * M, stepFactor: 2 },
    ...changes,
  };
};

export const writeRow = (us: number, bytes = 64 * M, column = 'MultiDMA'): Row =>
  sampleRow({ column, bytes, us, allowedGbps: 400, labels: { memory: 'direct' } });

export const exchangeRow = (us: number, ranks: number, bytes = 32 * M): Row =>
  sampleRow({
    ...{ column: 'MultiDMA', bytes, us, allowedGbps: 400, labels: { memory: 'direct' } },
    figure: allToAllBytes(bytes, ranks),
  });
