import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { all2all } from '../../src/benchmarks/all2all.js';
import { benchmarkById } from '../../src/benchmarks/index.js';
import { median } from '../../src/measure/quantile.js';
import { type Figure, readFigures } from '../../src/reference/csv.js';
import { p5Fabric } from '../../src/reference/p5-fabric.js';
import { p5ExchangeNodes, p5Rows } from '../../src/reference/p5-rows.js';
import { columnsOf } from '../../src/runner/columns.js';
import { fitRows, parseRowChoice } from '../../src/runner/predict/calibrate.js';
import { hostsOf, predictor } from '../../src/runner/predict/predict-row.js';
import { parameterNames } from '../../src/simulate/fabric-model.js';
import { type Fitted, fitModel, type Residual } from '../../src/simulate/fit.js';
import { outside } from './coverage.js';

const pinnedRows = ['all2all:MultiPin:4M', 'all2all:MultiPin:32M'];
const figures = readFigures(p5Rows, 'p5');

function fitOf(also: readonly string[], exchangeNodes = p5ExchangeNodes): Fitted {
  const { parameters: _, fit: __, ...frame } = p5Fabric;
  const read = figures.map((one) =>
    one.benchmark === 'all2all' ? { ...one, nodes: exchangeNodes } : one,
  );
  return fitModel(frame, fitRows(read, also.map(parseRowChoice), benchmarkById));
}

const errorOf = ({ log }: Residual): number => Math.abs(Math.expm1(log)) * 100;
const errorsOf = ({ residuals }: Fitted, wanted: (one: Residual) => boolean): number[] =>
  residuals.filter(wanted).map(errorOf);
const isExchange = ({ row }: Residual): boolean => row.benchmark === 'all2all';

const shipped = fitOf(['write:MultiDMA:256K', 'all2all:RoundRobinDMA:32M', ...pinnedRows]);

describe('the model of p5', () => {
  test('is what its fit gives', () => {
    const { parameters, fit } = shipped.model;
    for (const name of parameterNames) {
      expect(p5Fabric.parameters[name]! / parameters[name]! - 1).toBeCloseTo(0, 4);
      for (const end of [0, 1] as const) {
        expect(p5Fabric.fit!.intervals[name]![end] / fit!.intervals[name]![end] - 1).toBeCloseTo(
          0,
          4,
        );
      }
    }
    for (const [benchmark, spread] of Object.entries(fit!.spread)) {
      expect(p5Fabric.fit!.spread[benchmark]).toBeCloseTo(spread, 4);
    }
    expect(p5Fabric.fit!.rows).toBe(fit!.rows);
  });

  test('has intervals that contain 58 of the 66 rows; the others are messages below 4 MiB and one write', () => {
    expect(outside(shipped)).toEqual([
      'write SingleDMA 256K',
      'sendrecv SingleDMA 128K',
      'sendrecv SingleDMA 256K',
      'sendrecv SingleDMA 512K',
      'sendrecv SinglePin 512K',
      'sendrecv SingleDMA 1M',
      'sendrecv SinglePin 1M',
      'sendrecv SingleDMA 2M',
    ]);
    expect(shipped.residuals).toHaveLength(66);
  });

  test('does not count a row as free of error that decided its own prediction', () => {
    const decided = shipped.residuals.filter(({ leverage }) => leverage > 0.99);
    expect(decided.map(({ row }) => row.used)).toEqual(['added', 'added', 'added', 'added']);
    const others = shipped.residuals.filter((one) => isExchange(one) && !decided.includes(one));
    const squares = others.map(({ log }) => log ** 2);
    const spread = Math.sqrt(squares.reduce((a, b) => a + b) / squares.length);
    expect(shipped.model.fit!.spread.all2all).toBeCloseTo(spread, 6);
  });

  test('names the rows of the tables that do not fit', () => {
    const misfits = shipped.residuals.filter(({ fits, row }) => !fits && row.used);
    expect(misfits.map(({ row }) => row.name)).toEqual([
      'sendrecv SingleDMA 128K',
      'sendrecv SingleDMA 256K',
      'sendrecv SinglePin 512K',
      'sendrecv SingleDMA 1M',
      'sendrecv SinglePin 1M',
      'sendrecv SingleDMA 2M',
    ]);
  });
});

describe('fitted to one channel only', () => {
  test('it predicts writes over several channels from 1 MiB up: median 2 %, worst 12 %', () => {
    const errors = errorsOf(
      fitOf([]),
      ({ row }) => row.benchmark === 'write' && !row.used && !row.name.endsWith('K'),
    );
    expect(errors).toHaveLength(6);
    expect(median(errors)).toBeLessThan(2);
    expect(Math.max(...errors)).toBeLessThan(12);
  });

  test.each(['SingleDMA', 'RoundRobinDMA'])(
    'and three all-to-all rows (%s), it predicts the others: median 6 %, worst 12 %',
    (column) => {
      const fitted = fitOf([`all2all:${column}:32M`, ...pinnedRows]);
      const errors = errorsOf(fitted, (one) => isExchange(one) && !one.row.used);
      expect(errors).toHaveLength(7);
      expect(median(errors)).toBeLessThan(6);
      expect(Math.max(...errors)).toBeLessThan(12);
    },
  );
});

test('all-to-all was measured on 8 nodes: with 4, round-robin does not fit a single channel', () => {
  const worst = (nodes: number) =>
    Math.max(
      ...errorsOf(fitOf(['all2all:SingleDMA:32M', ...pinnedRows], nodes), (one) =>
        one.row.name.startsWith('all2all RoundRobin'),
      ),
    );
  expect(worst(8)).toBeLessThan(3);
  expect(worst(4)).toBeGreaterThan(14);
});

/** Of a row from its neighbours in the same column: a line through two points, on logarithmic scales. */
function interpolated(one: Figure): number | undefined {
  const others = figures
    .filter(
      ({ benchmark, column, bytes }) =>
        benchmark === one.benchmark && column === one.column && bytes !== one.bytes,
    )
    .sort(
      (a, b) => Math.abs(Math.log(a.bytes / one.bytes)) - Math.abs(Math.log(b.bytes / one.bytes)),
    );
  const below = others.find(({ bytes }) => bytes < one.bytes);
  const above = others.find(({ bytes }) => bytes > one.bytes);
  const [a, b] = below && above ? [below, above] : others;
  if (!a || !b) return undefined;
  const slope = Math.log(b.nanoseconds / a.nanoseconds) / Math.log(b.bytes / a.bytes);
  return a.nanoseconds * (one.bytes / a.bytes) ** slope;
}

test('it is closer than interpolation between the other rows of a column, by a factor of two', () => {
  const pairs = figures.flatMap((one, index) => {
    const other = interpolated(one);
    if (other === undefined) return [];
    const model = errorOf(shipped.residuals[index]!);
    return [
      { model, line: Math.abs(other / one.nanoseconds - 1) * 100, of: shipped.residuals[index]! },
    ];
  });
  const medians = (some: typeof pairs) => [
    median(some.map(({ model }) => model)),
    median(some.map(({ line }) => line)),
  ];
  const [model, line] = medians(pairs);
  expect(line! / model!).toBeGreaterThan(2);
  const [predicted, drawn] = medians(pairs.filter(({ of }) => of.row.used === undefined));
  expect(drawn! / predicted!).toBeGreaterThan(2);
});

const [splitColumn] = columnsOf(all2all, ['MultiDMA']);

/** As NCCL counts it: GB/s of all blocks of a rank, with 8 ranks per node. */
function algbwOf(nodes: number, mebibytes: number): number {
  const ranks = 8 * nodes;
  const bytes = (mebibytes * 2 ** 20) / ranks;
  const { strategy } = splitColumn!;
  const situation = { world: ranks, hosts: hostsOf(nodes, 8), bytes, strategy, options: {} };
  const time = predictor({
    clock: all2all.clock,
    column: splitColumn!,
    turns: all2all.turns({ ...situation, buffers: undefined }),
    world: { fabric: p5Fabric, nodes, ranksPerNode: 8 },
  })(p5Fabric);
  return (bytes * ranks) / time;
}

test('NCCL’s all-to-all from 1 GB up follows within 4 %, with no parameter of its own', () => {
  const rows = readFileSync(new URL('nccl-alltoall-p5.csv', import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .filter((line) => /^\d/.test(line))
    .map((line) => line.split(',').map(Number))
    .filter(([, , mebibytes]) => mebibytes! >= 1024);
  expect(rows).toHaveLength(6);
  const errors = rows.map(([nodes, , mebibytes, algbw]) =>
    Math.abs(algbwOf(nodes!, mebibytes!) / algbw! - 1),
  );
  expect(median(errors)).toBeLessThan(0.017);
  expect(Math.max(...errors)).toBeLessThan(0.04);
});

test.each([16, 32, 64])('with %i nodes, all-to-all of 1 GiB is bound by the NICs', (nodes) => {
  const { nicGbps, duplexEfficiency } = p5Fabric.parameters;
  const ranks = 8 * nodes;
  const bound = (((4 * nicGbps * duplexEfficiency) / 8) * ranks) / (ranks - 8);
  expect(algbwOf(nodes, 1024) / bound).toBeGreaterThan(0.98);
  expect(algbwOf(nodes, 8192) / bound).toBeGreaterThan(0.995);
  expect(algbwOf(nodes, 8192) / bound).toBeLessThan(1.001);
});
