import { describe, expect, test } from 'vitest';
import { benchmarkById } from '../../src/benchmarks/index.js';
import { readFigures } from '../../src/reference/csv.js';
import { labFabric } from '../../src/reference/lab-fabric.js';
import { labRows, labRowsAlso } from '../../src/reference/lab-rows.js';
import { fitRows, parseRowChoice } from '../../src/runner/predict/calibrate.js';
import { parameterNames } from '../../src/simulate/fabric-model.js';
import { fitModel } from '../../src/simulate/fit.js';
import { outside } from './coverage.js';

describe('the model of the lab', () => {
  const { parameters: _, fit: __, ...frame } = labFabric;
  const rows = fitRows(readFigures(labRows, 'lab'), labRowsAlso.map(parseRowChoice), benchmarkById);
  const fitted = fitModel(frame, rows);
  const { model, residuals } = fitted;

  test('is what its fit gives', () => {
    for (const name of parameterNames) {
      const [shipped, fitted] = [labFabric, model].map((one) => one.parameters[name] ?? 0);
      expect(shipped).toBeCloseTo(fitted!, 3);
      const interval = model.fit!.intervals[name];
      expect(labFabric.fit!.intervals[name]?.[1] ?? 0).toBeCloseTo(interval?.[1] ?? 0, 3);
    }
    for (const [benchmark, spread] of Object.entries(model.fit!.spread)) {
      expect(labFabric.fit!.spread[benchmark]).toBeCloseTo(spread, 4);
    }
    expect(Object.keys(labFabric.fit!.intervals)).toEqual(Object.keys(model.fit!.intervals));
  });

  test('comes from 2 hosts, and all their rows follow within 5 %', () => {
    expect(new Set(readFigures(labRows, 'lab').map(({ nodes }) => nodes))).toEqual(new Set([2]));
    for (const { log, row } of residuals) expect(Math.abs(log), row.name).toBeLessThan(0.05);
  });

  test('has intervals that contain all 21 rows', () => {
    expect(residuals).toHaveLength(21);
    expect(outside(fitted)).toEqual([]);
  });

  test('leaves out what its rows do not tell', () => {
    expect(model.parameters.chunkMicroseconds).toBe(0);
    expect(model.fit!.intervals.chunkMicroseconds).toBeUndefined();
    expect(model.fit!.intervals.duplexEfficiency![1]).toBeLessThanOrEqual(1);
  });
});
