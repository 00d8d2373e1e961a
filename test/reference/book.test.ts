import { expect, test } from 'vitest';
import { benchmarkById } from '../../src/benchmarks/index.js';
import { book } from '../../src/reference/book.js';
import { machines } from '../../src/reference/machines.js';
import { quantities } from '../../src/reference/published.js';

const places = [...machines.map(({ name }) => name), 'ConnectX-7'];

test.each(book.map((one) => [`${one.source.name}, ${one.benchmark}`, one] as const))(
  '%s: every figure has a source, a date, a machine, conditions and a unit',
  (_, { source, machine, benchmark, library, conditions, nicsPerRank, figures }) => {
    expect(source.url).toMatch(/^https:\/\/github\.com\/[\w.-]+\/[\w.-]+/);
    expect(source.read).toMatch(/^20\d\d-(0[1-9]|1[0-2])$/);
    expect(places).toContain(machine);
    expect(library).not.toBe('');
    expect(conditions).toMatch(/\w.*\.$/);
    expect(nicsPerRank).toBeGreaterThan(0);
    expect(figures.length).toBeGreaterThan(0);
    const columns = benchmarkById(benchmark).columns.map(({ name }) => name);
    for (const { column, bytes, nodes, ranksPerNode, quantity, value } of figures) {
      expect(columns.some((name) => name.startsWith(column))).toBe(true);
      expect(quantities[quantity].unit).not.toBe('');
      for (const number of [bytes, nodes, ranksPerNode])
        expect(Number.isInteger(number)).toBe(true);
      expect(value).toBeGreaterThan(0);
    }
  },
);

test('no figure stands in the book twice', () => {
  const keys = book.flatMap(({ source, machine, benchmark, figures }) =>
    figures.map(({ column, bytes, nodes, quantity }) =>
      [source.name, machine, benchmark, column, bytes, nodes, quantity].join(),
    ),
  );
  expect(new Set(keys).size).toBe(keys.length);
});

test('Libefaxx’s rates are those of its tables; round-robin counts all targets', () => {
  const write = book.find(({ benchmark }) => benchmark === 'write')!;
  const at = (column: string, bytes: number) =>
    write.figures.find((one) => one.column === column && one.bytes === bytes)!;
  expect(at('MultiDMA', 2 ** 26).value).toBeCloseTo(366.64, 1);
  expect(at('RoundRobinDMA', 2 ** 26).value).toBeCloseTo(284.74, 1);
});
